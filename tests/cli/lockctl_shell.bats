#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl shell: the prompt, its completion and its history.
load lockctl
load terminal

setup() {
    lockctl_setup
    mkdir "$D/home"
    history=$D/home/.local/state/holdfast/lockctl_history
    unset XDG_STATE_HOME
}
teardown() {
    terminal_teardown
    lockctl_teardown
}

prompt() {
    terminal "$@" lockctl shell
    shows 'lockctl>'
}

# Without an editor (--without-readline) there is nothing to complete with.
needs_editor() {
    ! grep -q '^line_editor = none' "$HF_BUILD/Makefile" ||
        skip 'configured without a line editor'
}

@test "commands from a pipe run in order, and the last one's status counts" {
    holds a t/n/k
    run lockctl shell <<<$'ls\n\n# a remark\nshow "t/n/k"'
    [ "$status" = 0 ]
    [[ ${lines[1]} == t/n/k\ * && $output == *'why '* ]]
    [[ $output != *'lockctl>'* ]]
    run lockctl shell <<<$'ls\nrelease k --token 5'
    [ "$status" = 1 ]
    run lockctl shell <<<$'release k --token 5\nls'
    [ "$status" = 0 ]
    run lockctl shell <<<$'ls\nexit\nnonsense'
    [ "$status" = 0 ]
    [ ! -e "$history" ]
}

@test "a line that is wrong is told, and the next one is taken" {
    a_store
    run lockctl shell <<<$'show "k\nnonsense\nshell\nepoch show --json'
    [ "$status" = 0 ]
    [ "${lines[0]}" = 'lockctl: a quote or backslash without its end' ]
    [[ ${lines[1]} == 'lockctl: "nonsense"'* ]]
    [ "${lines[2]}" = 'lockctl: this is the shell' ]
    [[ ${lines[3]} == '{"store":'* ]]
}

@test "options of the shell go for all its commands" {
    holds a t/n/k
    run env -u HOLDFAST_STORE lockctl shell --store "$D/store/db" --json <<<ls
    [[ $output == "{\"store\":\"$D/store/db\",\"holds\":[{\"key\":\"t/n/k\""* ]]
}

@test "help is the help of a command" {
    run lockctl shell <<<'help class show'
    [[ ${lines[0]} == 'Usage: lockctl class show '* ]]
    run lockctl shell <<<help
    [[ ${lines[0]} == 'Usage: lockctl '* ]]
}

@test "at a terminal there is a prompt, and ^D ends it" {
    holds a t/n/k
    prompt
    types 'ls' Enter
    shows 't/n/k '
    types C-d
    within 10 terminal_ends
}

@test "^C ends a command, or leaves a line, not the shell" {
    prompt
    types 'watch' Enter
    shows '^C ends it'
    types C-c
    within 10 says $'\nlockctl>' screen
    types 'nonsense' C-c
    types 'epoch show --json' Enter
    shows '{"store":'
    [[ $(screen) != *'no such command'* ]]
}

@test "top takes the terminal and gives it back to the prompt" {
    holds a t/n/k
    prompt
    types 'top' Enter
    shows 'q quit'
    types q
    shows_not 'q quit'
    types 'queue --json' Enter
    shows '"waiters":[]'
}

@test "commands, options, keys and classes are completed" {
    needs_editor
    printf 'ttl: {default: 30s}\n' >"$D/classes/nightly.yaml"
    holds a t/n/some-key
    prompt
    types qu Tab
    shows 'lockctl> qu'
    types e Tab
    shows 'lockctl> queue'
    types C-u 'rel' Tab 't/n/so' Tab '--to' Tab
    shows 'lockctl> release t/n/some-key --token'
    types C-u 'class sh' Tab 'nig' Tab
    shows 'lockctl> class show nightly'
    types C-u 'top --sort=wai' Tab
    shows 'lockctl> top --sort=waiting'
    types C-u 'class ls --classes ' "$D/cla" Tab
    shows "lockctl> class ls --classes $D/classes"
}

@test "two that begin alike are listed" {
    needs_editor
    holds a t/n/key-one
    holds b t/n/key-two
    prompt
    types 'show t' Tab
    shows 'show t/n/key-'
    types Tab Tab
    shows 'key-one'
    shows 'key-two'
}

@test "history is kept for its owner alone" {
    needs_editor
    prompt
    types 'epoch show' Enter
    shows epoch
    types ' ls t/secret/' Enter 'ls' Enter 'ls' Enter 'exit' Enter
    within 10 terminal_ends
    [ "$(cat "$history")" = $'epoch show\nls\nexit' ]
    [ "$(stat -c %a "$history")" = 600 ]
    [ "$(stat -c %a "${history%/*}")" = 700 ]
    prompt
    types Up Up Up
    shows 'lockctl> epoch show'
}

@test "XDG_STATE_HOME says where it is" {
    needs_editor
    mkdir "$D/state"
    prompt env XDG_STATE_HOME="$D/state"
    types 'exit' Enter
    within 10 terminal_ends
    [ -e "$D/state/holdfast/lockctl_history" ]
    [ ! -e "$history" ]
}

@test "without a home there is none" {
    terminal env -u HOME lockctl shell
    shows 'lockctl>'
    types 'exit' Enter
    within 10 terminal_ends
    [ -z "$(ls -A "$D/home")" ]
}

@test "a history that others could read is made private, a link is not followed" {
    needs_editor
    mkdir -p "${history%/*}"
    echo ls >"$history"
    chmod 666 "$history"
    prompt
    shows 'no history is kept'
    types 'exit' Enter
    within 10 terminal_ends
    chmod 644 "$history"
    prompt
    types 'exit' Enter
    within 10 terminal_ends
    [ "$(stat -c %a "$history")" = 600 ]
    rm "$history"
    echo mine >"$D/elsewhere"
    ln -s "$D/elsewhere" "$history"
    prompt
    shows 'no history is kept'
    types 'exit' Enter
    within 10 terminal_ends
    [ "$(cat "$D/elsewhere")" = mine ]
}

@test "the history does not grow without end" {
    needs_editor
    mkdir -p "${history%/*}"
    seq 1 1000 | sed 's/^/show k/' >"$history"
    prompt
    types 'epoch show' Enter
    shows epoch
    types 'exit' Enter
    within 10 terminal_ends
    [ "$(wc -l <"$history")" -le 501 ]
    [ "$(tail -n 3 "$history")" = $'show k1000\nepoch show\nexit' ]
}
