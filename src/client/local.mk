# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
noinst_LIBRARIES += src/client/libhf_client.a
src_client_libhf_client_a_SOURCES = \
	src/client/class_review.c \
	src/client/class_review.h \
	src/client/deadline.c \
	src/client/deadline.h \
	src/client/hold_json.c \
	src/client/hold_json.h \
	src/client/local.c \
	src/client/local.h \
	src/client/local_over.c \
	src/client/local_over.h \
	src/client/session.c \
	src/client/session.h \
	src/client/state_file.c \
	src/client/state_file.h \
	src/client/transport.h
