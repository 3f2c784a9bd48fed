# SPDX-License-Identifier: Apache-2.0
# The benchmark: `make bench`. Not a suite: times are never judged in a test.
EXTRA_PROGRAMS += tests/bench/bench
tests_bench_bench_SOURCES = tests/bench/bench.c
tests_bench_bench_LDADD =
EXTRA_DIST += tests/bench/layout tests/bench/run tests/bench/pg_guard
