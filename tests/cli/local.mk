# SPDX-License-Identifier: Apache-2.0
# The tools as people call them: a subject per .bats file. In tests/cases are
# troubles that people met with tools of this kind, each test with its number.
EXTRA_DIST += tests/cli tests/cases
SUITES += cli
suite_cli = tests/cli tests/cases
needs_cli = tests/guardian/in_vfork
