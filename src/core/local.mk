# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name below, headers and tables too.
noinst_LIBRARIES += src/core/libhf_core.a
src_core_libhf_core_a_SOURCES =
