# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name to the library that it belongs to,
# headers and tables too. What needs no library of others is libhf_fence; each
# of the others goes into a helper of lockfence.
noinst_LIBRARIES += src/fence/libhf_fence.a
src_fence_libhf_fence_a_SOURCES = \
	src/fence/rule.c \
	src/fence/rule.def \
	src/fence/rule.h
