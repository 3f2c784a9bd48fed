#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A job of many small steps that starts none which it may not finish:
#     lockrun --key=thumbnails -- examples/loop.sh FOLDER COMMAND...
# Runs COMMAND for each file of FOLDER that has no FILE.done yet. Before each step
# it asks whether the lease is good for longer than a step takes; that is one read
# of a file, and a thousand such questions take a second or two. What is left over
# the next run does. 0: all done; 3: not all.
set -eu
folder=$1
shift
step=${STEP:-10s}

for file in "$folder"/*; do
    case $file in *.done) continue ;; esac
    [ -f "$file" ] && [ ! -e "$file.done" ] || continue
    held=0
    lockfence held --margin "$step" || held=$?
    if [ "$held" != 0 ]; then
        # 1: no; 2: cannot tell (not under lockrun?), which means no.
        echo "loop: the lease is not good for another $step: stopping before $file" >&2
        exit 3
    fi
    "$@" "$file"
    touch "$file.done"
done
