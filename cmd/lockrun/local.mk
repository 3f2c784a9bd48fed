# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
# lockrun links everything in, so that its start costs as little as may be
# (docs/decisions.md); configure can change that.
#bin_PROGRAMS += lockrun
#lockrun_SOURCES = \
#	cmd/lockrun/main.c
#if STATIC_LOCKRUN
#lockrun_SOURCES += cmd/lockrun/noload.c
#endif
#lockrun_LDFLAGS = $(HF_LOCKRUN_LDFLAGS)
#lockrun_LDADD = $(HF_LOCAL_LIBS) $(HF_EXTERN_LIBS)
