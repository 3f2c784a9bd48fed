#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the shells themselves complete, with the files as they are installed.
load lockctl
load terminal

setup() {
    lockctl_setup
    mkdir "$D/home"
    made=$HF_SRC/completions
    printf 'ttl: {default: 30s}\n' >"$D/classes/nightly.yaml"
    holds a t/n/job:a@1
    holds b named
}
teardown() {
    terminal_teardown
    lockctl_teardown
}

# completes TYPED WANTED: Tab makes that of it.
completes() {
    types C-u "$1" Tab
    shows "ready\$ $2" || { screen; return 1; }
}

# What every shell must make of the same lines.
lines_complete() {
    completes 'lockctl que' 'lockctl queue'
    completes 'lockctl show nam' 'lockctl show named'
    completes 'lockctl show t' 'lockctl show t/n/job:a@1'
    completes 'lockctl show t/n/job:' 'lockctl show t/n/job:a@1'
    completes 'lockctl release t/n/job:a@' 'lockctl release t/n/job:a@1'
    completes 'lockctl class show nig' 'lockctl class show nightly'
    completes 'lockctl top --sort=wai' 'lockctl top --sort=waiting'
    completes 'lockrun --class=nig' 'lockrun --class=nightly'
    completes 'lockrun --class nig' 'lockrun --class nightly'
    completes 'lockrun --key=nam' 'lockrun --key=named'
}

@test "bash" {
    terminal env PS1='ready$ ' bash --norc
    shows 'ready$'
    types ". $made/lockctl; . $made/lockrun; clear" Enter
    shows_not clear
    lines_complete
}

@test "zsh" {
    mkdir "$D/functions"
    cp "$made/_lockctl" "$made/_lockrun" "$D/functions"
    cat >"$D/home/.zshrc" <<END
PS1='ready\$ '
bindkey -e
fpath=($D/functions \$fpath)
autoload -U compinit
compinit -u -D
END
    terminal env ZDOTDIR="$D/home" zsh -d
    shows 'ready$'
    lines_complete
}

@test "fish" {
    run env HOME="$D/home" fish --no-config -c "
        source $made/lockctl.fish
        source $made/lockrun.fish
        for line in 'lockctl show ' 'lockctl show t/n/job:' 'lockctl class show nig' \\
            'lockctl top --sort=wai' 'lockrun --class=nig' 'lockrun --key nam'
            complete -C \$line | string replace -r '\t.*' ''
            echo =
        end"
    [ "$status" = 0 ]
    [ "$output" = 'named
t/n/job:a@1
=
t/n/job:a@1
=
nightly
=
--sort=waiting
=
--class=nightly
=
named
=' ]
}

@test "what cannot be read offers nothing, and says nothing" {
    run lockctl complete keys --store "$D/classes/nightly.yaml"
    [ "$output" = "" ]
    run lockctl complete classes --classes "$D/none"
    [ "$output" = batch ]
    run lockctl complete keys zzz
    [ "$status" = 0 ]
    [ "$output" = "" ]
}
