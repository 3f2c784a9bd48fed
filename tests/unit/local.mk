# SPDX-License-Identifier: Apache-2.0
# Unit tests: one program for each subject. A new one, tests/unit/test_X.c: its
# name in unit_programs, and one line that names the libraries it may use (of its
# folder and below, tests/local.mk; no higher ones):
#     tests_unit_test_X_LDADD = $(HF_UNIT_LIBS) $(HF_CORE_LIBS)
# A test that fails allocations (tests/lib/nth_malloc.h) has this line as well:
#     tests_unit_test_X_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
SUITES += unit
unit_programs = \
	tests/unit/test_buf \
	tests/unit/test_class_file \
	tests/unit/test_classes \
	tests/unit/test_client_fail \
	tests/unit/test_deadline \
	tests/unit/test_duration \
	tests/unit/test_err \
	tests/unit/test_escape \
	tests/unit/test_fence_file \
	tests/unit/test_fence_rule \
	tests/unit/test_field \
	tests/unit/test_json \
	tests/unit/test_key \
	tests/unit/test_local \
	tests/unit/test_lockctl_shell \
	tests/unit/test_lockctl_table \
	tests/unit/test_lockctl_tool \
	tests/unit/test_lockfence_tool \
	tests/unit/test_lockctl_why \
	tests/unit/test_lockrun_events \
	tests/unit/test_lockrun_options \
	tests/unit/test_lockrun_tree \
	tests/unit/test_lockrun_words \
	tests/unit/test_opts \
	tests/unit/test_opts_table \
	tests/unit/test_session \
	tests/unit/test_sim_store \
	tests/unit/test_spelling \
	tests/unit/test_state_file \
	tests/unit/test_sys \
	tests/unit/test_sys_fake \
	tests/unit/test_time \
	tests/unit/test_token \
	tests/unit/test_utc \
	tests/unit/test_utf8 \
	tests/unit/test_yaml
check_PROGRAMS += $(unit_programs)
suite_unit = $(unit_programs)

# What tools make of their tables of options, asked in the shells' own way.
suite_unit += tests/unit/completion.bats
check_PROGRAMS += tests/unit/opts_print
needs_unit = tests/unit/opts_print
EXTRA_DIST += tests/unit/completion.bats tests/unit/completion

check_LIBRARIES += tests/lib/libhf_test.a
tests_lib_libhf_test_a_SOURCES = \
	tests/lib/cmocka_all.h \
	tests/lib/folder.c \
	tests/lib/folder.h \
	tests/lib/nth_malloc.c \
	tests/lib/nth_malloc.h \
	tests/lib/sys_fake.c \
	tests/lib/sys_fake.h

HF_UNIT_LIBS = tests/lib/libhf_test.a $(CMOCKA_LIBS)
HF_NTH_MALLOC = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

tests_unit_test_buf_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_buf_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_class_file_LDADD = $(HF_UNIT_LIBS) $(HF_SERVICE_LIBS) \
	$(YAML_LIBS)
tests_unit_test_classes_LDADD = $(HF_UNIT_LIBS) $(HF_SERVICE_LIBS) $(YAML_LIBS)
tests_unit_test_classes_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_client_fail_LDADD = $(HF_UNIT_LIBS) $(HF_LOCAL_LIBS) \
	$(HF_EXTERN_LIBS)
tests_unit_test_client_fail_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_local_LDADD = $(HF_UNIT_LIBS) src/client/libhf_client.a \
	src/service/libhf_service.a src/core/libhf_core.a $(HF_SIM_LIBS) \
	$(JANSSON_LIBS) $(YAML_LIBS)
tests_unit_test_local_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
# Parts of lockctl that need no store.
tests_unit_test_lockctl_shell_SOURCES = tests/unit/test_lockctl_shell.c \
	cmd/lockctl/shell_offer.c cmd/lockctl/shell_words.c cmd/lockctl/tool.c
tests_unit_test_lockctl_shell_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_lockctl_table_SOURCES = tests/unit/test_lockctl_table.c \
	cmd/lockctl/table.c
tests_unit_test_lockctl_table_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_lockctl_table_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_lockfence_tool_SOURCES = tests/unit/test_lockfence_tool.c \
	cmd/lockfence/options.c
tests_unit_test_lockfence_tool_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_lockctl_tool_SOURCES = tests/unit/test_lockctl_tool.c \
	cmd/lockctl/tool.c
tests_unit_test_lockctl_tool_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_lockctl_why_SOURCES = tests/unit/test_lockctl_why.c \
	cmd/lockctl/hold.c cmd/lockctl/why.c
tests_unit_test_lockctl_why_LDADD = $(HF_UNIT_LIBS) src/client/libhf_client.a \
	$(HF_CORE_LIBS)
tests_unit_test_deadline_LDADD = $(HF_UNIT_LIBS) src/client/libhf_client.a \
	$(HF_BASE_LIBS)
tests_unit_test_duration_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_err_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_escape_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_fence_file_LDADD = $(HF_UNIT_LIBS) $(HF_FENCE_LIBS) \
	$(JANSSON_LIBS)
tests_unit_test_fence_rule_LDADD = $(HF_UNIT_LIBS) $(HF_FENCE_LIBS)
tests_unit_test_field_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS) $(JANSSON_LIBS)
tests_unit_test_field_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_json_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS) $(JANSSON_LIBS)
tests_unit_test_json_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_opts_print_SOURCES = tests/unit/opts_print.c \
	tests/unit/opts_tools.c tests/unit/opts_tools.h
tests_unit_opts_print_LDADD = $(HF_BASE_LIBS)
tests_unit_test_lockrun_events_SOURCES = tests/unit/test_lockrun_events.c \
	cmd/lockrun/event.c cmd/lockrun/put.c
tests_unit_test_lockrun_events_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS) \
	$(JANSSON_LIBS)
tests_unit_test_lockrun_events_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_lockrun_options_SOURCES = tests/unit/test_lockrun_options.c \
	cmd/lockrun/options.c
tests_unit_test_lockrun_options_LDADD = $(HF_UNIT_LIBS) $(HF_CORE_LIBS)
tests_unit_test_lockrun_tree_SOURCES = tests/unit/test_lockrun_tree.c \
	cmd/lockrun/cgroup.c cmd/lockrun/pids.c cmd/lockrun/tree.c
tests_unit_test_lockrun_tree_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_lockrun_tree_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=pidfd_open,--wrap=pidfd_send_signal
tests_unit_test_lockrun_words_SOURCES = tests/unit/test_lockrun_words.c \
	cmd/lockrun/environment.c cmd/lockrun/handed.c cmd/lockrun/pids.c \
	cmd/lockrun/program.c
tests_unit_test_lockrun_words_LDADD = $(HF_UNIT_LIBS) $(HF_CORE_LIBS)
tests_unit_test_lockrun_words_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_opts_SOURCES = tests/unit/test_opts.c \
	tests/unit/opts_tools.c tests/unit/opts_tools.h
tests_unit_test_opts_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_opts_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_opts_table_SOURCES = tests/unit/test_opts_table.c \
	tests/unit/opts_tools.c tests/unit/opts_tools.h
tests_unit_test_opts_table_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_opts_table_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_spelling_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_state_file_LDADD = $(HF_UNIT_LIBS) src/client/libhf_client.a \
	$(HF_BASE_LIBS)
tests_unit_test_sys_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_sys_fake_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_time_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_utc_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_utf8_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS)
tests_unit_test_yaml_LDADD = $(HF_UNIT_LIBS) $(HF_BASE_LIBS) $(YAML_LIBS)
tests_unit_test_yaml_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_key_LDADD = $(HF_UNIT_LIBS) $(HF_CORE_LIBS)
tests_unit_test_session_LDADD = $(HF_UNIT_LIBS) src/client/libhf_client.a \
	$(HF_CORE_LIBS)
tests_unit_test_sim_store_LDADD = $(HF_UNIT_LIBS) $(HF_SIM_LIBS)
tests_unit_test_token_LDADD = $(HF_UNIT_LIBS) $(HF_CORE_LIBS)

include tests/unit/sqlite.mk

if HAVE_CURL
suite_s3 = \
	tests/unit/test_s3_config \
	tests/unit/test_s3_place \
	tests/unit/test_s3_sign \
	tests/unit/test_sha256
suite_unit += $(suite_s3)
check_PROGRAMS += $(suite_s3)
endif
HF_S3_LIBS = src/fence/libhf_s3.a $(HF_FENCE_LIBS) $(CURL_LIBS)
tests_unit_test_s3_config_LDADD = $(HF_UNIT_LIBS) $(HF_S3_LIBS)
tests_unit_test_s3_config_LDFLAGS = $(AM_LDFLAGS) $(HF_NTH_MALLOC)
tests_unit_test_s3_place_LDADD = $(HF_UNIT_LIBS) $(HF_S3_LIBS)
tests_unit_test_s3_sign_LDADD = $(HF_UNIT_LIBS) $(HF_S3_LIBS)
tests_unit_test_sha256_LDADD = $(HF_UNIT_LIBS) $(HF_S3_LIBS)
