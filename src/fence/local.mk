# SPDX-License-Identifier: Apache-2.0
# A new file of this folder: add its name to the library that it belongs to,
# headers and tables too. What needs no library of others is libhf_fence; each
# of the others goes into a helper of lockfence.
noinst_LIBRARIES += src/fence/libhf_fence.a
src_fence_libhf_fence_a_SOURCES = \
	src/fence/file.c \
	src/fence/file.h \
	src/fence/file_attr.c \
	src/fence/file_attr.h \
	src/fence/file_mark.c \
	src/fence/file_mark.h \
	src/fence/file_place.c \
	src/fence/file_place.h \
	src/fence/file_stage.c \
	src/fence/file_stage.h \
	src/fence/rule.c \
	src/fence/rule.def \
	src/fence/rule.h

# The SQL is read as a file and shipped as one; lockfence-pg has it as a string.
dist_pkgdata_DATA = src/fence/pg_guard.sql
CLEANFILES += src/fence/pg_sql.c
if HAVE_PQ
noinst_LIBRARIES += src/fence/libhf_pg.a
src_fence_libhf_pg_a_CPPFLAGS = $(AM_CPPFLAGS) $(PQ_CPPFLAGS)
src_fence_libhf_pg_a_SOURCES = \
	src/fence/pg.c \
	src/fence/pg.h \
	src/fence/pg_sql.h \
	src/fence/pg_write.c \
	src/fence/pg_write.h
nodist_src_fence_libhf_pg_a_SOURCES = src/fence/pg_sql.c

src/fence/pg_sql.c: src/fence/pg_guard.sql
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
	    echo '#include "fence/pg_sql.h"'; echo 'const char hf_pg_guard_sql[] ='; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' \
	        $(top_srcdir)/src/fence/pg_guard.sql; echo ';'; } >$@
endif

if HAVE_CURL
noinst_LIBRARIES += src/fence/libhf_s3.a
src_fence_libhf_s3_a_SOURCES = \
	src/fence/s3.c \
	src/fence/s3.h \
	src/fence/s3_body.c \
	src/fence/s3_body.h \
	src/fence/s3_config.c \
	src/fence/s3_config.h \
	src/fence/s3_http.c \
	src/fence/s3_http.h \
	src/fence/s3_place.c \
	src/fence/s3_place.h \
	src/fence/s3_probe.c \
	src/fence/s3_probe.def \
	src/fence/s3_probe.h \
	src/fence/s3_put.c \
	src/fence/s3_put.h \
	src/fence/s3_sign.c \
	src/fence/s3_sign.h \
	src/fence/sha256.c \
	src/fence/sha256.h
endif
