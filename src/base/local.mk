# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
noinst_LIBRARIES += src/base/libhf_base.a
src_base_libhf_base_a_SOURCES = \
	src/base/buf.c \
	src/base/buf.h \
	src/base/duration.c \
	src/base/duration.h \
	src/base/err.c \
	src/base/err.def \
	src/base/err.h \
	src/base/escape.c \
	src/base/escape.h \
	src/base/field.c \
	src/base/field.h \
	src/base/field_decode.c \
	src/base/hex.c \
	src/base/hex.h \
	src/base/json.c \
	src/base/json.h \
	src/base/opts.c \
	src/base/opts.h \
	src/base/opts_bash.c \
	src/base/opts_check.c \
	src/base/opts_dump.c \
	src/base/opts_fish.c \
	src/base/opts_help.c \
	src/base/opts_row.h \
	src/base/opts_value.c \
	src/base/opts_zsh.c \
	src/base/spelling.c \
	src/base/spelling.h \
	src/base/sys.c \
	src/base/sys.h \
	src/base/time.h \
	src/base/utc.c \
	src/base/utc.h \
	src/base/utf8.c \
	src/base/utf8.h \
	src/base/yaml.c \
	src/base/yaml.h
