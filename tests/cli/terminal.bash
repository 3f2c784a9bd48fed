# SPDX-License-Identifier: Apache-2.0
# A terminal that tests can type into and look at: tmux, with a server of its
# own below $D. Sourced, after lockctl.bash.

in_tmux() { tmux -S "$D/tmux" -f /dev/null "$@" 3>&-; }

# terminal WORD...: a terminal of 100 x 30 in which that runs. tmux has a shell
# start it, the user's own, which may be one that stays in between.
terminal() {
    HOME=$D/home PS1='ready$ ' TERM=xterm SHELL=$BASH \
        in_tmux new-session -d -x 100 -y 30 "exec $(printf '%q ' "$@")"
}

# What it shows now, without the blanks at the ends of lines.
screen() { in_tmux capture-pane -p | sed 's/ *$//'; }

# types KEY...: words as tmux names keys: text, Enter, Tab, C-c.
types() { in_tmux send-keys "$@"; }

# shows TEXT, shows_not TEXT: within a time it does (not).
shows() {
    within 15 says "$1" screen || { screen; return 1; }
}
says_not() { ! says "$@"; }
shows_not() { within 15 says_not "$1" screen; }

terminal_ends() { ! in_tmux has-session 2>/dev/null; }

terminal_teardown() { in_tmux kill-server 2>/dev/null || :; }
