#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A job as cron would start it, wrapped in a lease:
#     lockrun --class=batch -- examples/job.sh
# It tells what lockrun hands to a job, and works for two seconds.

if [ -z "$LOCK_TOKEN" ]; then
    echo "job: no LOCK_TOKEN: start me through lockrun" >&2
    exit 1
fi

echo "job $$ runs; nobody else holds its key, and it was handed:"
tell() { printf '  %-13s %-44s %s\n' "$1" "$2" "$3"; }
tell LOCK_KEY "$LOCK_KEY" "what is locked"
tell LOCK_TOKEN "$LOCK_TOKEN" "rises with every grant; show it to what you write to"
tell LOCK_EPOCH "$LOCK_EPOCH" "the token's upper part: this life of the store"
tell LOCK_REVISION "$LOCK_REVISION" "its lower part: the transaction that granted"
tell LOCK_CLASS "$LOCK_CLASS" "the rules that apply"
tell LOCK_SESSION "$LOCK_SESSION" "who holds it"
tell LOCK_STATE "$LOCK_STATE" "a file that always tells the present deadline"

sleep 2
echo "job $$ is done; the lease ends with it"
