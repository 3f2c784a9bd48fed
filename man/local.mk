# SPDX-License-Identifier: Apache-2.0
# Manual pages and completions. What comes from the option tables is committed,
# so that a build needs no second stage; `make generate` writes it anew, and the
# suite "man" compares.
GENERATED_PAGES = man/lockctl.1 man/lockfence.1 man/lockrun.1
dist_man_MANS = $(GENERATED_PAGES) man/holdfast-class.5
EXTRA_DIST += man/generate $(GENERATED_PAGES:=.in)

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA = completions/lockctl completions/lockfence \
	completions/lockrun
dist_zshcompletion_DATA = completions/_lockctl completions/_lockfence \
	completions/_lockrun
dist_fishcompletion_DATA = completions/lockctl.fish \
	completions/lockfence.fish completions/lockrun.fish

.PHONY: generate
generate: all-am
	$(srcdir)/man/generate $(srcdir) . $(srcdir)

SUITES += man
suite_man = tests/man/pages
EXTRA_DIST += tests/man/pages
