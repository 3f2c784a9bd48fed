# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
noinst_LIBRARIES += src/core/libhf_core.a
src_core_libhf_core_a_SOURCES = \
	src/core/acquire.h \
	src/core/class.c \
	src/core/class.h \
	src/core/core.c \
	src/core/core.h \
	src/core/key.c \
	src/core/key.h \
	src/core/op.h \
	src/core/op_acquire.c \
	src/core/op_describe.c \
	src/core/op_epoch.c \
	src/core/op_keep.c \
	src/core/op_list.c \
	src/core/op_release.c \
	src/core/op_renew.c \
	src/core/op_session.c \
	src/core/op_wait.c \
	src/core/op_watch.c \
	src/core/policy.c \
	src/core/queue.c \
	src/core/record.c \
	src/core/record.h \
	src/core/request.c \
	src/core/request.def \
	src/core/request.h \
	src/core/seal.c \
	src/core/token.c \
	src/core/token.h \
	src/core/txn.c \
	src/core/txn.h
