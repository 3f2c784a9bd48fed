# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
#bin_PROGRAMS += lockctl
#lockctl_SOURCES = \
#	cmd/lockctl/main.c
#lockctl_LDADD = $(HF_LOCAL_LIBS) $(HF_EXTERN_LIBS)
