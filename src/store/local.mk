# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name to the store that it belongs to,
# headers and tables too. Each store is a library of its own, so that a program
# links only the one that it opens; the simulated one is for tests alone.
noinst_LIBRARIES += src/store/libhf_sqlite.a
src_store_libhf_sqlite_a_SOURCES = \
	src/store/check.c \
	src/store/check.h \
	src/store/request.c \
	src/store/sqlite.h \
	src/store/store.h

check_LIBRARIES += src/store/libhf_sim.a
src_store_libhf_sim_a_SOURCES = \
	src/store/check.c \
	src/store/check.h \
	src/store/request.c \
	src/store/sim.h
