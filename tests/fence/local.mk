# SPDX-License-Identifier: Apache-2.0
# The fences, against real file systems and servers.
SUITES += fence
suite_fence = tests/fence
needs_fence = lockfence
