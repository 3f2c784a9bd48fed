# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
noinst_LIBRARIES += src/service/libhf_service.a
src_service_libhf_service_a_SOURCES = \
	src/service/service.c \
	src/service/service.h
