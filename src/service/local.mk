# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
noinst_LIBRARIES += src/service/libhf_service.a
src_service_libhf_service_a_SOURCES = \
	src/service/class_file.c \
	src/service/class_file.def \
	src/service/class_file.h \
	src/service/classes.c \
	src/service/classes.h \
	src/service/service.c \
	src/service/service.h
