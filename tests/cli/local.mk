# SPDX-License-Identifier: Apache-2.0
# The tools as people call them: a subject per .bats file.
EXTRA_DIST += tests/cli
SUITES += cli
suite_cli = tests/cli
