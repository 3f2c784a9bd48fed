# SPDX-License-Identifier: Apache-2.0
# The simulator, and the faults planted to see that it finds them. `make
# check-sim` runs the seeds, `make check-mutants` every patch of mutants/.
# HF_SIM_SEEDS=A-B takes other seeds.
check_PROGRAMS += tests/sim/simulate
tests_sim_simulate_SOURCES = \
	tests/sim/admin.c \
	tests/sim/audit.c \
	tests/sim/audit.h \
	tests/sim/client.c \
	tests/sim/client.h \
	tests/sim/control.c \
	tests/sim/control.h \
	tests/sim/door.c \
	tests/sim/door.h \
	tests/sim/fault.def \
	tests/sim/job.c \
	tests/sim/job.h \
	tests/sim/oracle.c \
	tests/sim/oracle.h \
	tests/sim/oracle_cause.c \
	tests/sim/oracle_read.c \
	tests/sim/oracle_report.c \
	tests/sim/oracle_state.h \
	tests/sim/plan.c \
	tests/sim/plan.h \
	tests/sim/run.c \
	tests/sim/run.h \
	tests/sim/simulate.c
HF_SIMULATE_LIBS = src/fence/libhf_fence.a src/client/libhf_client.a \
	src/service/libhf_service.a src/core/libhf_core.a $(HF_SIM_LIBS)
tests_sim_simulate_LDADD = $(HF_SIMULATE_LIBS) $(JANSSON_LIBS)

EXTRA_DIST += tests/sim/check tests/sim/mutants
SUITES += sim mutants
suite_sim = tests/sim/check
needs_sim = tests/sim/simulate
suite_mutants = tests/sim/mutants/run
needs_mutants = tests/sim/simulate
