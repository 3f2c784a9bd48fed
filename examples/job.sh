#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A job as cron would start it, wrapped in a lease:
#     lockrun --class=batch -- examples/job.sh
# It tells what lockrun hands to a job, and works for two seconds.

if [ -z "$LOCK_TOKEN" ]; then
    echo "job: no LOCK_TOKEN: start me through lockrun" >&2
    exit 1
fi

echo "job $$ runs; nobody else holds its key. It was handed:"
tell() { printf '  %-42s %s\n' "$1" "$2"; }
tell "what is locked" "LOCK_KEY=$LOCK_KEY"
tell "the fencing token: rises with each grant," "LOCK_TOKEN=$LOCK_TOKEN"
tell "  made of this life of the store" "LOCK_EPOCH=$LOCK_EPOCH"
tell "  and of the transaction that granted" "LOCK_REVISION=$LOCK_REVISION"
tell "the rules that apply" "LOCK_CLASS=$LOCK_CLASS"
tell "who holds it" "LOCK_SESSION=$LOCK_SESSION"
tell "a file that tells the present deadline" "LOCK_STATE=$LOCK_STATE"

sleep 2
echo "job $$ is done; the lease ends with it"
