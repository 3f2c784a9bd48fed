# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
# lockfence itself links no library of others (docs/decisions.md): commands that
# need one are in a helper, which lies in libexec.
HELPER_FOLDER = $(libexecdir)/holdfast
lockfence_frame = \
	cmd/lockfence/claim.def \
	cmd/lockfence/commands.def \
	cmd/lockfence/commands.h \
	cmd/lockfence/file_write.def \
	cmd/lockfence/frame.c \
	cmd/lockfence/frame.h \
	cmd/lockfence/json.def \
	cmd/lockfence/options.c \
	cmd/lockfence/options.h

#bin_PROGRAMS += lockfence
#lockfence_SOURCES = $(lockfence_frame) \
#	cmd/lockfence/file.c \
#	cmd/lockfence/helper.c \
#	cmd/lockfence/helper.h \
#	cmd/lockfence/main.c
#lockfence_CPPFLAGS = $(AM_CPPFLAGS) -DHELPER_FOLDER='"$(HELPER_FOLDER)"'
#lockfence_LDADD = $(HF_FENCE_LIBS)
