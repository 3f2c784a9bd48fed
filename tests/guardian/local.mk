# SPDX-License-Identifier: Apache-2.0
# The guardian: lockrun killed, stopped and hidden from, at any moment.
EXTRA_DIST += tests/guardian
SUITES += guardian
suite_guardian = tests/guardian
needs_guardian = tests/guardian/in_vfork tests/guardian/stand
check_PROGRAMS += $(needs_guardian)
tests_guardian_in_vfork_SOURCES = tests/guardian/in_vfork.c
tests_guardian_stand_SOURCES = tests/guardian/stand.c

# The loops of this folder in full; CI takes fewer tries.
long: all-am tests/suites.list
	HF_TRIES=200 HF_EVERY=1 $(RUN_TESTS) guardian
.PHONY: long
