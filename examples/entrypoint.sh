#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The entry point of a container that runs one job, and only while no other
# container of this host runs it:
#     ENTRYPOINT ["/usr/local/bin/entrypoint.sh"]
#     CMD ["/usr/local/bin/report"]
# The store lies on a volume that they share: -v locks:/locks -e LOCK=report
# lockrun takes this shell's place and is process 1: it hands on what
# `docker stop` sends, waits for the job's own clean-up, and reaps orphans.
# Busy after WAIT: 75.
set -eu
exec lockrun --store="${STORE:-/locks/lock.db}" \
    --key="${LOCK:?which key?}" -w "${WAIT:-10m}" -- "$@"
