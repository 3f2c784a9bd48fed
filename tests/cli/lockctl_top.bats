#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl top: a picture that keeps itself up to date, and plain text.
load lockctl
load terminal

setup() {
    lockctl_setup
    mkdir "$D/home"
}
teardown() {
    terminal_teardown
    lockctl_teardown
}

# A shell in the terminal, and top in it.
top_in_shell() {
    terminal env PS1='ready$ ' bash --norc
    shows 'ready$'
    types "stty -a >$D/before; lockctl top $*" Enter
    shows 'q quit'
}

# The shell again, and the terminal as it was: settings, cursor, lines that wrap.
restored() {
    shows_not 'q quit'
    types "stty -a >$D/after; echo 'done'ly" Enter
    shows donely
    diff "$D/before" "$D/after"
    [ "$(in_tmux display -p '#{cursor_flag} #{wrap_flag} #{alternate_on}')" = '1 1 0' ]
}

@test "it shows what is held and who waits, and what comes meanwhile" {
    holds a t/n/k
    top_in_shell
    shows '1 held, 0 waiting'
    shows t/n/k
    holds b t/n/second
    waits c t/n/k
    shows '2 held, 1 waiting'
    shows t/n/second
    [[ $(in_tmux display -p '#{cursor_flag} #{alternate_on}') == '0 1' ]]
}

@test "q gives the terminal back" {
    holds a t/n/k
    top_in_shell
    types q
    restored
    types 'false; lockctl top' Enter
    shows 'q quit'
    types q
    shows_not 'q quit'
    types 'echo "status $?"' Enter
    shows 'status 0'
}

@test "so do ^C and every signal that ends a program" {
    for how in INT TERM HUP QUIT USR1 ALRM; do
        top_in_shell
        within 10 pidof_top
        kill -"$how" "$top"
        restored
        types 'echo "ended $?"' Enter
        terminal_teardown
        within 10 terminal_ends
    done
    top_in_shell
    types C-c
    restored
}

# The pid of the lockctl in the terminal, in $top.
pidof_top() {
    local shell
    shell=$(in_tmux display -p '#{pane_pid}')
    top=$(cat "/proc/$shell/task/$shell/children")
    top=${top% }
    [ -n "$top" ] && [[ $(cat "/proc/$top/comm") == lockctl ]]
}

@test "it ends by the signal that ended it" {
    terminal bash -c 'lockctl top; echo "status $?"; exec sleep 60'
    shows 'q quit'
    within 10 pidof_top
    kill -TERM "$top"
    shows 'status 143'
}

@test "^Z gives the terminal back, fg goes on" {
    holds a t/n/k
    top_in_shell
    types C-z
    shows Stopped
    types "stty -a >$D/after; echo 'done'ly" Enter
    shows donely
    diff "$D/before" "$D/after"
    types fg Enter
    shows 'q quit'
    types q
    restored
}

@test "s takes the next order" {
    top_in_shell
    shows '(key first)'
    types s
    shows '(age first)'
    types s s
    shows '(lease first)'
    types s
    shows '(key first)'
}

@test "the longest queue is first if that is asked" {
    holds a t/n/a
    holds b t/n/b
    waits c t/n/b
    top_in_shell --sort waiting
    shows '(waiting first)'
    shows t/n/b
    run screen
    before=${output%%t/n/b*}
    [[ $before != *t/n/a* ]]
}

@test "a smaller terminal shows less, and scrolls" {
    for i in 1 2 3 4 5 6; do holds "n$i" "t/n/k$i"; done
    top_in_shell
    shows t/n/k6
    in_tmux resize-window -x 60 -y 8
    shows_not t/n/k5
    shows t/n/k4
    types Down Down
    shows t/n/k6
    shows_not t/n/k1
    types k k
    shows t/n/k1
    run screen
    [[ $output != *NOTE* ]]
}

@test "NO_COLOR leaves the colours out" {
    holds a t/n/k
    top_in_shell
    [[ $(in_tmux capture-pane -e -p) == *$'\e[1m'* ]]
    types q
    restored
    types 'NO_COLOR=1 lockctl top' Enter
    shows 'q quit'
    [[ $(in_tmux capture-pane -e -p) != *$'\e[1m'* ]]
}

@test "--once prints the list as plain text" {
    holds a t/n/k
    waits b t/n/k
    run lockctl top --once
    [ "$status" = 0 ]
    [ "${#lines[@]}" = 3 ]
    [[ ${lines[0]} =~ ^20[0-9-]+T[0-9:]+Z\ \ 1\ line,\ 1\ waiting$ ]]
    [[ ${lines[1]} == KEY\ * && ${lines[2]} == t/n/k\ * ]]
    [[ $output != *$'\e'* ]]
    run lockctl top --once t/other/
    [ "${#lines[@]}" = 1 ]
}

@test "--batch prints it again and again" {
    holds a t/n/k
    run lockctl top --batch --count 3 --every 0.1
    [ "$status" = 0 ]
    [ "$(grep -c '^t/n/k ' <<<"$output")" = 3 ]
}

@test "--json is a document for each list, that of ls" {
    holds a t/n/k
    run lockctl top --batch --count 2 --every 0.1 --json
    [ "$status" = 0 ]
    [ "${#lines[@]}" = 2 ]
    [[ ${lines[0]} == "{\"store\":\"$D/store/db\",\"holds\":[{\"key\":\"t/n/k\","* ]]
    [ "$(sed 's/"age_ms.*session/session/' <<<"${lines[1]}")" = "$(lockctl ls --json | sed 's/"age_ms.*session/session/')" ]
}

@test "without a terminal it says what to ask for" {
    a_store
    run lockctl top
    [ "$status" = 64 ]
    [ "$output" = "lockctl: no terminal here: --once or --batch print plain text" ]
    run lockctl top --json
    [ "$status" = 64 ]
    run lockctl top --once 't//'
    [ "$status" = 64 ]
}

@test "a terminal that can show no picture is told" {
    terminal env TERM=dumb bash -c 'lockctl top; echo "status $?"; exec sleep 60'
    shows 'status 64'
    shows 'TERM says'
}
