# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
bin_PROGRAMS += lockctl
lockctl_SOURCES = \
	cmd/lockctl/ask.c \
	cmd/lockctl/class_lint.c \
	cmd/lockctl/class_ls.c \
	cmd/lockctl/class_show.c \
	cmd/lockctl/class_text.c \
	cmd/lockctl/class_text.h \
	cmd/lockctl/commands.def \
	cmd/lockctl/epoch.h \
	cmd/lockctl/epoch_advance.c \
	cmd/lockctl/epoch_show.c \
	cmd/lockctl/hold.c \
	cmd/lockctl/hold.h \
	cmd/lockctl/lockctl.h \
	cmd/lockctl/ls.c \
	cmd/lockctl/main.c \
	cmd/lockctl/options.def \
	cmd/lockctl/process.c \
	cmd/lockctl/process.h \
	cmd/lockctl/release.c \
	cmd/lockctl/show.c \
	cmd/lockctl/table.c \
	cmd/lockctl/table.h \
	cmd/lockctl/tool.c \
	cmd/lockctl/why.c \
	cmd/lockctl/why.h
lockctl_LDADD = $(HF_LOCAL_LIBS) $(HF_EXTERN_LIBS)
