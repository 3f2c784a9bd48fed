# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
# lockrun links everything in, so that its start costs as little as may be
# (docs/decisions.md); configure can change that.
bin_PROGRAMS += lockrun
lockrun_SOURCES = \
	cmd/lockrun/ask.c \
	cmd/lockrun/ask.h \
	cmd/lockrun/attend.c \
	cmd/lockrun/busy.c \
	cmd/lockrun/busy.h \
	cmd/lockrun/cgroup.c \
	cmd/lockrun/cgroup.h \
	cmd/lockrun/descriptors.c \
	cmd/lockrun/descriptors.h \
	cmd/lockrun/dry_run.c \
	cmd/lockrun/dry_run.h \
	cmd/lockrun/environment.c \
	cmd/lockrun/environment.h \
	cmd/lockrun/event.c \
	cmd/lockrun/event.def \
	cmd/lockrun/event.h \
	cmd/lockrun/explain.c \
	cmd/lockrun/explain.h \
	cmd/lockrun/get_key.c \
	cmd/lockrun/guardian.c \
	cmd/lockrun/guardian.h \
	cmd/lockrun/guardian_page.h \
	cmd/lockrun/guardian_watch.c \
	cmd/lockrun/guardian_watch.h \
	cmd/lockrun/handed.c \
	cmd/lockrun/handed.h \
	cmd/lockrun/hook.c \
	cmd/lockrun/hook.h \
	cmd/lockrun/hooks.c \
	cmd/lockrun/hooks.h \
	cmd/lockrun/job.c \
	cmd/lockrun/job.h \
	cmd/lockrun/job_start.c \
	cmd/lockrun/job_tell.c \
	cmd/lockrun/job_tell.h \
	cmd/lockrun/keeper.c \
	cmd/lockrun/keeper.h \
	cmd/lockrun/leftover.h \
	cmd/lockrun/limits.c \
	cmd/lockrun/limits.h \
	cmd/lockrun/main.c \
	cmd/lockrun/memory.c \
	cmd/lockrun/memory.h \
	cmd/lockrun/naming.c \
	cmd/lockrun/naming.h \
	cmd/lockrun/nested.c \
	cmd/lockrun/nested.h \
	cmd/lockrun/options.c \
	cmd/lockrun/options.def \
	cmd/lockrun/options.h \
	cmd/lockrun/pids.c \
	cmd/lockrun/pids.h \
	cmd/lockrun/proc.c \
	cmd/lockrun/proc.h \
	cmd/lockrun/program.c \
	cmd/lockrun/program.h \
	cmd/lockrun/put.c \
	cmd/lockrun/put.h \
	cmd/lockrun/run.c \
	cmd/lockrun/run.h \
	cmd/lockrun/run_event.c \
	cmd/lockrun/run_event.h \
	cmd/lockrun/say.c \
	cmd/lockrun/say.h \
	cmd/lockrun/signals.c \
	cmd/lockrun/signals.h \
	cmd/lockrun/spawn.c \
	cmd/lockrun/spawn.h \
	cmd/lockrun/tree.c \
	cmd/lockrun/tree.h \
	cmd/lockrun/watch.c \
	cmd/lockrun/watch.h
if STATIC_LOCKRUN
lockrun_SOURCES += \
	cmd/lockrun/noextension.c \
	cmd/lockrun/noload.c
endif
lockrun_LDFLAGS = $(HF_LOCKRUN_LDFLAGS) $(HF_LAYOUT_LDFLAGS)
EXTRA_lockrun_DEPENDENCIES = cmd/lockrun/layout.ld
EXTRA_DIST += cmd/lockrun/layout.ld
lockrun_LDADD = $(HF_LOCAL_LIBS) $(HF_EXTERN_LIBS)
