# SPDX-License-Identifier: Apache-2.0
# Fuzz targets, driven over a corpus of their own. A new one, fuzz_X.c: its name
# here with the libraries that it needs, and a folder corpus/X.
fuzz_programs = tests/fuzz/fuzz_class
check_PROGRAMS += $(fuzz_programs)
EXTRA_DIST += tests/fuzz/run tests/fuzz/corpus
SUITES += fuzz
suite_fuzz = tests/fuzz/run
needs_fuzz = $(fuzz_programs)

HF_FUZZ_SOURCES = tests/fuzz/drive.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_class_SOURCES = tests/fuzz/fuzz_class.c $(HF_FUZZ_SOURCES)
tests_fuzz_fuzz_class_LDADD = $(HF_SERVICE_LIBS) $(YAML_LIBS)
