# SPDX-License-Identifier: Apache-2.0
# Stories: the core and service over the simulated store, in one language.
check_PROGRAMS += tests/story/story
tests_story_story_SOURCES = tests/story/story.c
tests_story_story_LDADD = src/service/libhf_service.a \
	src/core/libhf_core.a $(HF_SIM_LIBS) $(JANSSON_LIBS)
STORIES = \
	tests/story/epoch.story \
	tests/story/grant.story \
	tests/story/keep.story \
	tests/story/queue.story \
	tests/story/release.story \
	tests/story/unknown.story \
	tests/story/watch.story
EXTRA_DIST += $(STORIES) tests/story/run
SUITES += story
suite_story = tests/story/run
needs_story = tests/story/story
