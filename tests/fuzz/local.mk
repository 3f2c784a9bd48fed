# SPDX-License-Identifier: Apache-2.0
# Fuzz targets, each driven over a corpus of its own. A new one, fuzz_X.c: its
# name and its libraries below, and a folder corpus/X. The same targets under a
# fuzzer that is guided by coverage: tests/fuzz/guided.
fuzz_programs = \
	tests/fuzz/fuzz_arguments \
	tests/fuzz/fuzz_class \
	tests/fuzz/fuzz_key \
	tests/fuzz/fuzz_mark \
	tests/fuzz/fuzz_record \
	tests/fuzz/fuzz_rows \
	tests/fuzz/fuzz_session \
	tests/fuzz/fuzz_state \
	tests/fuzz/fuzz_words
check_PROGRAMS += $(fuzz_programs)
EXTRA_DIST += tests/fuzz/run tests/fuzz/guided tests/fuzz/corpus
SUITES += fuzz
suite_fuzz = tests/fuzz/run
needs_fuzz = $(fuzz_programs)

check_LIBRARIES += tests/fuzz/libhf_fuzz.a
tests_fuzz_libhf_fuzz_a_SOURCES = \
	tests/fuzz/fuzz.c \
	tests/fuzz/fuzz.h \
	tests/fuzz/memory.c \
	tests/fuzz/memory.h

HF_FUZZ_DRIVE = tests/fuzz/drive.c
HF_FUZZ_LIBS = tests/fuzz/libhf_fuzz.a

tests_fuzz_fuzz_arguments_SOURCES = tests/fuzz/fuzz_arguments.c \
	$(HF_FUZZ_DRIVE) cmd/lockctl/tool.c cmd/lockfence/options.c \
	cmd/lockrun/options.c
tests_fuzz_fuzz_arguments_LDADD = $(HF_FUZZ_LIBS) $(HF_CORE_LIBS)
tests_fuzz_fuzz_class_SOURCES = tests/fuzz/fuzz_class.c $(HF_FUZZ_DRIVE)
tests_fuzz_fuzz_class_LDADD = $(HF_FUZZ_LIBS) $(HF_SERVICE_LIBS) $(YAML_LIBS)
tests_fuzz_fuzz_key_SOURCES = tests/fuzz/fuzz_key.c $(HF_FUZZ_DRIVE)
tests_fuzz_fuzz_key_LDADD = $(HF_FUZZ_LIBS) $(HF_CORE_LIBS)
tests_fuzz_fuzz_mark_SOURCES = tests/fuzz/fuzz_mark.c $(HF_FUZZ_DRIVE)
tests_fuzz_fuzz_mark_LDADD = $(HF_FUZZ_LIBS) $(HF_FENCE_LIBS) $(JANSSON_LIBS)
tests_fuzz_fuzz_record_SOURCES = tests/fuzz/fuzz_record.c $(HF_FUZZ_DRIVE)
tests_fuzz_fuzz_record_LDADD = $(HF_FUZZ_LIBS) $(HF_CORE_LIBS) $(JANSSON_LIBS)
tests_fuzz_fuzz_rows_SOURCES = tests/fuzz/fuzz_rows.c $(HF_FUZZ_DRIVE)
tests_fuzz_fuzz_rows_LDADD = $(HF_FUZZ_LIBS) src/service/libhf_service.a \
	src/core/libhf_core.a $(HF_SIM_LIBS) $(JANSSON_LIBS)
tests_fuzz_fuzz_session_SOURCES = tests/fuzz/fuzz_session.c $(HF_FUZZ_DRIVE)
tests_fuzz_fuzz_session_LDADD = $(HF_FUZZ_LIBS) $(HF_SQLITE_LIBS)
tests_fuzz_fuzz_state_SOURCES = tests/fuzz/fuzz_state.c $(HF_FUZZ_DRIVE)
tests_fuzz_fuzz_state_LDADD = $(HF_FUZZ_LIBS) src/client/libhf_client.a \
	$(HF_BASE_LIBS)
tests_fuzz_fuzz_words_SOURCES = tests/fuzz/fuzz_words.c $(HF_FUZZ_DRIVE)
tests_fuzz_fuzz_words_LDADD = $(HF_FUZZ_LIBS) $(HF_CORE_LIBS)
