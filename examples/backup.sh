#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A backup that brings its own lock, so that it does not matter who starts it:
#     examples/backup.sh FOLDER ARCHIVE.tar.gz
# Two of one archive never run at once. The second waits for WAIT at most and then
# ends with 75; after LIMIT a backup is ended. The archive is replaced in one
# step, and not by a backup that lost its lease meanwhile.
set -eu
[ $# = 2 ] || { echo "usage: backup.sh FOLDER ARCHIVE.tar.gz" >&2; exit 64; }
key=site/backup/$(basename "$2" .tar.gz)

# LOCK_KEY alone tells what was held once: a process that outlived its lease has it
# still.
if [ "${LOCK_KEY-}" != "$key" ] || ! lockfence held -q; then
    exec lockrun --key="$key" -w "${WAIT:-30m}" --max-run="${LIMIT:-4h}" \
        --note="backup of $1" -- "$0" "$@"
fi

# Whole, before anything is put into the archive's place.
new=$(mktemp "${TMPDIR:-/tmp}/backup.XXXXXXXX")
trap 'rm -f "$new"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
# The archive is tar's standard output: if tar is told its name, the gzip that it
# starts opens it, and can make it again after a tar that failed is gone.
tar -C "$1" -czf - . >"$new"
lockfence file write "$2" <"$new"
