# SPDX-License-Identifier: Apache-2.0
# Tests of the embedded store, on a kernel that the test commands.
sqlite_programs = \
	tests/unit/test_sqlite_container \
	tests/unit/test_sqlite_fail \
	tests/unit/test_sqlite_full \
	tests/unit/test_sqlite_gate \
	tests/unit/test_sqlite_job \
	tests/unit/test_sqlite_kill \
	tests/unit/test_sqlite_loss \
	tests/unit/test_sqlite_mark \
	tests/unit/test_sqlite_place \
	tests/unit/test_sqlite_proof \
	tests/unit/test_sqlite_rows \
	tests/unit/test_sqlite_users \
	tests/unit/test_sqlite_wake
check_PROGRAMS += $(sqlite_programs)
suite_unit += $(sqlite_programs)

check_LIBRARIES += tests/unit/libhf_lab.a
tests_unit_libhf_lab_a_SOURCES = \
	tests/unit/sqlite_lab.c \
	tests/unit/sqlite_lab.h

HF_LAB_LIBS = tests/unit/libhf_lab.a $(HF_UNIT_LIBS) $(HF_SQLITE_LIBS)
tests_unit_test_sqlite_container_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_fail_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_full_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_gate_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_job_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_kill_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_loss_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_mark_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_place_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_proof_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_rows_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_users_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_wake_LDADD = $(HF_LAB_LIBS)
tests_unit_test_sqlite_fail_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
