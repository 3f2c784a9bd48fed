# SPDX-License-Identifier: Apache-2.0
# A suite is one line: SUITES += NAME, and its items in suite_NAME.
# An item is a test program (listed in check_PROGRAMS too; cmocka, or one whose
# last line is "N passed, N failed"), a script, or a folder of .bats files.
# jobs_NAME = 1 runs its items one by one; needs_NAME lists programs that its
# items call. `make check-NAME` runs one suite; tests/run says the rest.
# Unit tests have a list of their own: tests/unit/local.mk.

# What a program links that stands on a folder, in link order.
HF_BASE_LIBS = src/base/libhf_base.a
HF_STORE_LIBS = src/store/libhf_store.a $(HF_BASE_LIBS)
HF_SIM_LIBS = src/store/libhf_sim.a $(HF_STORE_LIBS)
HF_SQLITE_LIBS = src/store/libhf_sqlite.a $(HF_STORE_LIBS) $(SQLITE_LIBS)
HF_CORE_LIBS = src/core/libhf_core.a $(HF_STORE_LIBS)
HF_SERVICE_LIBS = src/service/libhf_service.a $(HF_CORE_LIBS)
# The fences, without their libraries of others; keys and tokens come from core.
HF_FENCE_LIBS = src/fence/libhf_fence.a src/client/libhf_client.a \
	src/core/libhf_core.a $(HF_BASE_LIBS)
# A tool on this machine's own store, and what of it comes from elsewhere.
HF_LOCAL_LIBS = src/client/libhf_client.a src/service/libhf_service.a \
	src/core/libhf_core.a src/store/libhf_sqlite.a $(HF_STORE_LIBS)
HF_EXTERN_LIBS = $(SQLITE_LIBS) $(JANSSON_LIBS) $(YAML_LIBS)

EXTRA_DIST += tests/run tests/arch tests/fence tests/peers tests/quality

# Rules of the tree that no compiler checks.
SUITES += arch
suite_arch = tests/arch/layers tests/arch/words tests/arch/symbols \
	tests/arch/programs tests/arch/cases tests/arch/selftest \
	tests/arch/runner

include tests/unit/local.mk
include tests/fence/local.mk
include tests/store/local.mk
include tests/sim/local.mk
include tests/story/local.mk
include tests/fuzz/local.mk
include tests/cli/local.mk
include tests/guardian/local.mk
include tests/attack/local.mk

# Slow: the other builds and the readers of source (see QUALITY in Makefile.am).
SUITES += quality
suite_quality = tests/quality/valgrind tests/quality/asan \
	tests/quality/distcheck tests/quality/analyzer tests/quality/cppcheck \
	tests/quality/check-format

# Which suites the other builds repeat: all that run our own code in C for
# asan and ubsan, test programs alone for valgrind, quick ones for distcheck.
SANITIZED_SUITES = unit store story sim fuzz
VALGRIND_SUITES = unit store
DISTCHECK_SUITES = arch unit store story
