# SPDX-License-Identifier: Apache-2.0
# What lockrun makes of a kernel that refuses it something.
EXTRA_DIST += tests/attack
SUITES += attack
suite_attack = tests/attack
