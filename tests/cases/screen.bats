#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# C32: what takes the whole screen, or asks for a password, is as without lockrun.
# In tmux, which is typed at and looked at.
load ../cli/lockrun
load ../cli/terminal

setup() {
    command -v tmux >/dev/null || skip 'no tmux here'
    lockrun_setup
    mkdir "$D/home"
    terminal env PS1='ready$ ' TERM=screen bash --norc --noprofile
    shows 'ready$'
}
teardown() {
    cd /
    terminal_teardown
    lockrun_teardown
}

# pages WORD...: a pager started so, from a screen that is clear; what it shows at
# each key is in the files $D/seen.N.
pages() {
    types "clear; stty -a >$D/stty.1; PS1=; $* ; stty -a >$D/stty.2; PS1='ready$ '" Enter
    shows '-More-'
    shows 'line 20'
    screen >"$D/seen.1"
    types Space
    shows 'line 45'
    screen >"$D/seen.2"
    # Stopped in the middle, and back again.
    types C-z
    shows Stopped
    types 'fg' Enter
    shows '-More-'
    types q
    types "PS1='ready$ '" Enter
    shows 'ready$'
    cmp "$D/stty.1" "$D/stty.2"
}

@test "C32: a pager: pages, ^Z, fg, and the terminal as it was" {
    command -v more >/dev/null || skip 'no pager here'
    seq -f 'line %g' 200 >"$D/text"
    pages more "$D/text"
    mkdir without
    mv seen.* without
    pages lockrun --key t/n/k -- more "$D/text"
    # The first line is what was typed.
    for n in 1 2; do
        diff <(tail -n 25 "without/seen.$n") <(tail -n 25 "seen.$n")
    done
    within 10 is_free
}

@test "C32: a password prompt hides what is typed, and ^C ends it" {
    command -v python3 >/dev/null || skip 'no python3 here'
    cat >ask.py <<'END'
import getpass
word = getpass.getpass("secret? ")
print("got %d letters" % len(word))
END
    types "clear; lockrun --key t/n/k -- python3 $D/ask.py; echo status=\$?" Enter
    shows 'secret?'
    types hunter2 Enter
    shows 'got 7 letters'
    shows 'status=0'
    [[ $(screen) != *hunter2* ]]
    types "clear; lockrun --key t/n/k -- python3 $D/ask.py; echo status=\$?" Enter
    shows 'secret?'
    types C-c
    shows 'status=1'
    types "clear; stty echo; echo vi''sible" Enter
    shows visible
    within 10 is_free
}
