# SPDX-License-Identifier: Apache-2.0
# The fences, against real file systems and servers. A minute of writers at each
# level, instead of seconds: HF_FENCE_SECONDS=60 make check-fence.
SUITES += fence
suite_fence = tests/fence
needs_fence = lockfence

if HAVE_PQ
check_PROGRAMS += tests/fence/pg_writers
needs_fence += tests/fence/pg_writers
tests_fence_pg_writers_CPPFLAGS = $(AM_CPPFLAGS) $(PQ_CPPFLAGS)
tests_fence_pg_writers_SOURCES = tests/fence/pg_writers.c
tests_fence_pg_writers_LDADD = $(PQ_LIBS)
endif
