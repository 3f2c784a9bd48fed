# SPDX-License-Identifier: Apache-2.0
# The guardian: lockrun killed, stopped and hidden from, at any moment.
EXTRA_DIST += tests/guardian
SUITES += guardian
suite_guardian = tests/guardian
needs_guardian = tests/guardian/in_vfork
check_PROGRAMS += tests/guardian/in_vfork
tests_guardian_in_vfork_SOURCES = tests/guardian/in_vfork.c

# The loops of this folder in full; CI takes fewer tries.
long: all-am tests/suites.list
	HF_TRIES=200 $(RUN_TESTS) guardian
.PHONY: long
