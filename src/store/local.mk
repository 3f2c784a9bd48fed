# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name to the store that it belongs to,
# headers and tables too. What all stores share is one library, each store
# another, so that a program links only the one that it opens; the simulated
# one is for tests alone.
noinst_LIBRARIES += src/store/libhf_store.a src/store/libhf_sqlite.a
src_store_libhf_store_a_SOURCES = \
	src/store/check.c \
	src/store/check.h \
	src/store/request.c \
	src/store/store.h
src_store_libhf_sqlite_a_SOURCES = \
	src/store/sqlite.h

check_LIBRARIES += src/store/libhf_sim.a
src_store_libhf_sim_a_SOURCES = \
	src/store/sim.c \
	src/store/sim.h \
	src/store/sim_carry.c \
	src/store/sim_clock.h \
	src/store/sim_lease.c \
	src/store/sim_queue.c \
	src/store/sim_queue.h \
	src/store/sim_random.h \
	src/store/sim_snapshot.c \
	src/store/sim_state.c \
	src/store/sim_state.h \
	src/store/sim_txn.c \
	src/store/sim_watch.c \
	src/store/sim_world.h
