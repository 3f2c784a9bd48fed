#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl class ls, lint, show.
load lockctl

setup() { lockctl_setup; }
teardown() { lockctl_teardown; }

@test "without files there is batch" {
    run lockctl class ls
    [ "$status" = 0 ]
    [ "${lines[0]}" = 'CLASS  TTL  TTL MAX  MODE    WAIT  HOLD MAX  KEY                         FROM' ]
    [ "${lines[1]}" = 'batch   1m      10m  shared    0s      none  local/batch/{command path}  built in' ]
    [ "${#lines[@]}" = 2 ]
}

@test "classes are listed by name, files and built in" {
    echo 'ttl: {default: 30s}' >"$D/classes/zebra.yaml"
    echo 'mode: exclusive' >"$D/classes/ant.yaml"
    run lockctl class ls
    [ "$status" = 0 ]
    [[ ${lines[1]} =~ ^ant\ .*exclusive.*\ file$ ]]
    [[ ${lines[2]} =~ ^batch\ .*\ built\ in$ ]]
    [[ ${lines[3]} =~ ^zebra\ +30s\ .*local/zebra/.*\ file$ ]]
    echo 'ttl: {default: 7s}' >"$D/classes/batch.yaml"
    run lockctl class ls
    [[ ${lines[2]} =~ ^batch\ +7s\ .*\ file$ ]]
    [ "${#lines[@]}" = 4 ]
}

@test "lint names file, line and column, and suggests" {
    printf 'mode: shared\nttl:\n  defualt: 5s\n' >"$D/classes/a.yaml"
    echo 'quorum_loss: open' >"$D/classes/b.yaml"
    echo 'quota: {holds: 5}' >"$D/classes/c.yaml"
    run lockctl class lint
    [ "$status" = 78 ]
    [ "${lines[0]}" = "$D/classes/a.yaml:3:3: \"ttl.defualt\" is not a field of a class; did you mean \"default\"?" ]
    [ "${lines[1]}" = "$D/classes/b.yaml:1:14: quorum_loss: open is known, but nothing in this version obeys it; closed is what happens" ]
    [ "${lines[2]}" = "$D/classes/c.yaml:1:1: quota is known (holds, waiters and acquisitions at most), but nothing in this version obeys it: take it out" ]
    [ "${#lines[@]}" = 3 ]
}

@test "lint of a good file prints its cost" {
    echo 'ttl: {min: 6s, default: 30s, max: 1h}' >"$D/classes/a.yaml"
    run lockctl class lint
    [ "$status" = 0 ]
    [ "$output" = "$D/classes/a.yaml: ok
  commits      2 for a job (grant, release), 2 for one that waits, 0 for a losing try
  renewals     0.100/s for a running job (each 10s), 0.500/s at the shortest TTL
               each one is a commit
  dead holder  its key is free at once where the kernel proves it,
               else after the TTL: 30s, 1h at most
  a long TTL   means fewer renewals, and jobs that outlive longer stops;
               but a death that is not proved keeps the key so long" ]
}

@test "lint takes classes, files and a folder under review" {
    mkdir "$D/review"
    echo 'mode: exclusive' >"$D/review/a.yaml"
    echo 'mode: no' >"$D/review/b.yaml"
    run lockctl class lint --classes "$D/review" a
    [ "$status" = 0 ]
    [ "${lines[0]}" = 'a: ok' ]
    run lockctl class lint "$D/review/b.yaml"
    [ "$status" = 78 ]
    [ "${lines[0]}" = "$D/review/b.yaml:1:7: mode: \"no\" is not known; it takes one of: exclusive shared" ]
    cd "$D/review"
    run lockctl class lint a.yaml
    [ "$status" = 0 ]
    run lockctl class lint --classes "$D/none"
    [ "$status" = 78 ]
    [ "$output" = "lockctl: there is no folder $D/none" ]
    run lockctl class lint batch
    [ "$status" = 0 ]
}

@test "a file that the loader would never read is a finding" {
    echo '{}' >"$D/classes/a.yml"
    echo '{}' >"$D/classes/Nightly.yaml"
    run lockctl class lint
    [ "$status" = 78 ]
    [[ ${lines[0]} == "Nightly.yaml: class: "* ]]
    [ "${lines[1]}" = 'a.yml: only files that end in .yaml are read' ]
}

@test "a file that others could have written is a finding, and refused in use" {
    echo 'ttl: {default: 30s}' >"$D/classes/a.yaml"
    chmod 664 "$D/classes/a.yaml"
    run lockctl class lint
    [ "$status" = 78 ]
    [ "${lines[0]}" = "$D/classes/a.yaml can be written by a group (mode 664): chmod go-w, for who writes it decides on locks" ]
    [[ $output == *commits* ]]
    run lockrun --class=a --key t/n/k -- true
    [ "$status" = 78 ]
    chmod 644 "$D/classes/a.yaml"
    run lockrun --class=a --key t/n/k -- true
    [ "$status" = 0 ]
}

@test "show tells each field with what it means" {
    printf 'ttl: {default: 30s}\nhold_max: 6h\n' >"$D/classes/a.yaml"
    run lockctl class show a
    [ "$status" = 0 ]
    [ "${lines[0]}" = "class a, from $D/classes/a.yaml" ]
    [[ $output == *$'\nttl.default   30s '* ]]
    [[ $output == *$'\nhold_max      6h '* ]]
    [[ $output == *'closed: without a store no job starts'* ]]
    [[ $output == *'dead holder'* ]]
    run lockctl class show nothing
    [ "$status" = 78 ]
    [ "$output" = "lockctl: class \"nothing\" is not known: there is no $D/classes/nothing.yaml" ]
    run lockctl class show ../a
    [ "$status" = 64 ]
}

@test "the same in JSON" {
    echo 'ttl: {default: 30s}' >"$D/classes/a.yaml"
    echo 'x: y' >"$D/classes/b.yaml"
    run lockctl class show a --json
    [[ $output == '{"folder":"'*'","class":"a","built_in":false,"fields":{"ttl.min":"5s","ttl.default":"30s",'*'"cost":{"commits_per_job":2,'*'"dead_free_ms":30000,"dead_free_most_ms":600000}}' ]]
    run lockctl class lint --json
    [ "$status" = 78 ]
    [[ $output == '{"files":[{"file":"'*'/a.yaml","ok":true,'*'{"file":"'*'/b.yaml","ok":false,"error":"'*'"errors":1}' ]]
    run lockctl class ls --json --classes "$D/none"
    [[ $output == *'"classes":[{"class":"batch","built_in":true,'* ]]
}

@test "a job obeys its class" {
    echo 'mode: exclusive' >"$D/classes/a.yaml"
    run lockrun --class=a -s --key t/n/k -- true
    [ "$status" = 77 ]
    echo 'mode: exclusve' >"$D/classes/a.yaml"
    run lockrun --class=a --key t/n/k -- true
    [ "$status" = 78 ]
    [[ $output == *"$D/classes/a.yaml:1:7: "* ]]
}
