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
	src/store/sqlite.c \
	src/store/sqlite.h \
	src/store/sqlite_aside.c \
	src/store/sqlite_cgroup.c \
	src/store/sqlite_cgroup.h \
	src/store/sqlite_edit.c \
	src/store/sqlite_edit.h \
	src/store/sqlite_fs.c \
	src/store/sqlite_fs.def \
	src/store/sqlite_gate.c \
	src/store/sqlite_gate.h \
	src/store/sqlite_journal.c \
	src/store/sqlite_lease.c \
	src/store/sqlite_lease.h \
	src/store/sqlite_mark.c \
	src/store/sqlite_mark.h \
	src/store/sqlite_note.c \
	src/store/sqlite_note.h \
	src/store/sqlite_place.c \
	src/store/sqlite_place.h \
	src/store/sqlite_rebuild.c \
	src/store/sqlite_rebuild.h \
	src/store/sqlite_recover.c \
	src/store/sqlite_recover.h \
	src/store/sqlite_salvage.c \
	src/store/sqlite_scan.c \
	src/store/sqlite_scan.h \
	src/store/sqlite_session.c \
	src/store/sqlite_session.h \
	src/store/sqlite_store.h \
	src/store/sqlite_table.c \
	src/store/sqlite_table.h \
	src/store/sqlite_txn.c \
	src/store/sqlite_txn.h \
	src/store/sqlite_vfs.c \
	src/store/sqlite_vfs.h \
	src/store/sqlite_wake.c \
	src/store/sqlite_wake.h \
	src/store/sqlite_watch.c \
	src/store/sqlite_watch.h \
	src/store/sqlite_way.c

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
