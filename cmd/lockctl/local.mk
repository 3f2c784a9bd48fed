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
	cmd/lockctl/complete.c \
	cmd/lockctl/epoch.h \
	cmd/lockctl/epoch_advance.c \
	cmd/lockctl/epoch_show.c \
	cmd/lockctl/hold.c \
	cmd/lockctl/history.c \
	cmd/lockctl/history.h \
	cmd/lockctl/hold.h \
	cmd/lockctl/line.h \
	cmd/lockctl/line_plain.c \
	cmd/lockctl/list.c \
	cmd/lockctl/list.h \
	cmd/lockctl/lockctl.h \
	cmd/lockctl/ls.c \
	cmd/lockctl/main.c \
	cmd/lockctl/options.def \
	cmd/lockctl/process.c \
	cmd/lockctl/process.h \
	cmd/lockctl/queue.c \
	cmd/lockctl/release.c \
	cmd/lockctl/screen.c \
	cmd/lockctl/screen.h \
	cmd/lockctl/shell.c \
	cmd/lockctl/shell_offer.c \
	cmd/lockctl/shell_offer.h \
	cmd/lockctl/shell_words.c \
	cmd/lockctl/shell_words.h \
	cmd/lockctl/show.c \
	cmd/lockctl/table.c \
	cmd/lockctl/table.h \
	cmd/lockctl/tool.c \
	cmd/lockctl/top.c \
	cmd/lockctl/waiters.c \
	cmd/lockctl/waiters.h \
	cmd/lockctl/watch.c \
	cmd/lockctl/why.c \
	cmd/lockctl/why.h
# The line editor of `lockctl shell`: a library, or none.
if HAVE_LINE_EDITOR
lockctl_SOURCES += cmd/lockctl/line_edit.c
else
lockctl_SOURCES += cmd/lockctl/line_none.c
endif
lockctl_LDADD = $(HF_LOCAL_LIBS) $(HF_EXTERN_LIBS) $(LINE_EDITOR_LIBS)
