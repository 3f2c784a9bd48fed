# SPDX-License-Identifier: Apache-2.0
# The conformance suite of store.h: one program per store, the same suites.
# A new suite is a file here, a line in kit.h and one in kit_main.
SUITES += store
suite_store = tests/store/conform_sim tests/store/conform_sqlite
check_PROGRAMS += $(suite_store)

check_LIBRARIES += tests/store/libhf_conformance.a
tests_store_libhf_conformance_a_SOURCES = \
	tests/store/kit.c \
	tests/store/kit.h \
	tests/store/suite_identity.c \
	tests/store/suite_lapse.c \
	tests/store/suite_lease.c \
	tests/store/suite_list.c \
	tests/store/suite_request.c \
	tests/store/suite_txn.c \
	tests/store/suite_watch.c

HF_CONFORMANCE_LIBS = tests/store/libhf_conformance.a $(HF_UNIT_LIBS)

tests_store_conform_sim_LDADD = $(HF_CONFORMANCE_LIBS) $(HF_SIM_LIBS)
tests_store_conform_sqlite_LDADD = $(HF_CONFORMANCE_LIBS) $(HF_SQLITE_LIBS)
