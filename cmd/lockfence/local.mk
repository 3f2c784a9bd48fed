# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
# lockfence itself links no library of others (docs/decisions.md): commands that
# need one are in a helper, which lies in libexec.
HELPER_FOLDER = $(libexecdir)/holdfast
helperdir = $(HELPER_FOLDER)
helper_PROGRAMS =
lockfence_frame = \
	cmd/lockfence/claim.def \
	cmd/lockfence/commands.def \
	cmd/lockfence/commands.h \
	cmd/lockfence/file_write.def \
	cmd/lockfence/filter.def \
	cmd/lockfence/frame.c \
	cmd/lockfence/frame.h \
	cmd/lockfence/json.def \
	cmd/lockfence/options.c \
	cmd/lockfence/options.h \
	cmd/lockfence/held.def \
	cmd/lockfence/pausetest.def \
	cmd/lockfence/pg_bump.def \
	cmd/lockfence/pg_guard.def \
	cmd/lockfence/pg_place.def \
	cmd/lockfence/pg_run.def \
	cmd/lockfence/pg_write.def \
	cmd/lockfence/quiet.def \
	cmd/lockfence/s3_body.def \
	cmd/lockfence/s3_put.def \
	cmd/lockfence/s3_store.def \
	cmd/lockfence/service.def \
	cmd/lockfence/strict.def

bin_PROGRAMS += lockfence
lockfence_SOURCES = $(lockfence_frame) \
	cmd/lockfence/file.c \
	cmd/lockfence/filter.c \
	cmd/lockfence/held.c \
	cmd/lockfence/helper.c \
	cmd/lockfence/helper.h \
	cmd/lockfence/main.c \
	cmd/lockfence/pause_act.def \
	cmd/lockfence/pause_holder.c \
	cmd/lockfence/pause_holder.h \
	cmd/lockfence/pause_kit.c \
	cmd/lockfence/pause_kit.h \
	cmd/lockfence/pause_points.c \
	cmd/lockfence/pause_proc.c \
	cmd/lockfence/pause_proc.h \
	cmd/lockfence/pause_report.c \
	cmd/lockfence/pause_report.h \
	cmd/lockfence/pause_trace.c \
	cmd/lockfence/pause_trace.h \
	cmd/lockfence/pause_trial.def \
	cmd/lockfence/pausetest.c
lockfence_CPPFLAGS = $(AM_CPPFLAGS) -DHELPER_FOLDER='"$(HELPER_FOLDER)"'
lockfence_LDFLAGS = $(HF_LOCKRUN_LDFLAGS)
lockfence_LDADD = $(HF_FENCE_LIBS) $(JANSSON_LIBS)

helper_PROGRAMS += lockfence-ask
lockfence_ask_SOURCES = $(lockfence_frame) \
	cmd/lockfence/ask.c \
	cmd/lockfence/ask.h \
	cmd/lockfence/ask_main.c \
	cmd/lockfence/check.c
lockfence_ask_LDADD = src/fence/libhf_fence.a $(HF_LOCAL_LIBS) $(HF_EXTERN_LIBS)

if HAVE_PQ
helper_PROGRAMS += lockfence-pg
lockfence_pg_SOURCES = $(lockfence_frame) \
	cmd/lockfence/ask.c \
	cmd/lockfence/ask.h \
	cmd/lockfence/pg.h \
	cmd/lockfence/pg_check.c \
	cmd/lockfence/pg_init.c \
	cmd/lockfence/pg_main.c \
	cmd/lockfence/pg_mark.c \
	cmd/lockfence/pg_run.c \
	cmd/lockfence/pg_write.c
lockfence_pg_LDADD = src/fence/libhf_pg.a src/fence/libhf_fence.a \
	$(HF_LOCAL_LIBS) $(PQ_LIBS) $(HF_EXTERN_LIBS)
endif

if HAVE_CURL
helper_PROGRAMS += lockfence-s3
lockfence_s3_SOURCES = $(lockfence_frame) \
	cmd/lockfence/s3.c \
	cmd/lockfence/s3.h \
	cmd/lockfence/s3_get.c \
	cmd/lockfence/s3_main.c \
	cmd/lockfence/s3_put.c
lockfence_s3_LDADD = src/fence/libhf_s3.a $(HF_FENCE_LIBS) $(CURL_LIBS)
endif
