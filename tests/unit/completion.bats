#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Completions made of a table of options. Bash is asked what it would offer; the
# files for zsh and fish are compared with those in tests/unit/completion, which
# were tried in the shells themselves: try them again when they change.

print() { "$HF_BUILD/tests/unit/opts_print" "$@"; }

# offers WORD... : what bash offers for the last WORD, words split as bash splits
# them ("=" is one by itself).
offers() {
    source <(print "$1" bash)
    compopt() { :; }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "_$1" "$1" "${typed-${!#}}" || :
    echo "${COMPREPLY[*]}"
}

@test "options are offered behind a dash" {
    [ "$(offers run --w)" = --wait ]
    [ "$(offers run -v --n)" = "--nb --nonblocking --note" ]
    [ "$(offers run --xyz)" = "" ]
}

@test "hidden and refused options are not offered" {
    [ "$(offers run --du)" = "" ]
    [ "$(offers run --lo)" = "" ]
}

@test "a list of words is offered for an option that takes one of them" {
    [ "$(offers run --leftover '')" = "wait kill leave" ]
    [ "$(offers run --leftover k)" = kill ]
    [ "$(offers run --leftover =)" = "wait kill leave" ]
    [ "$(offers run --leftover = l)" = leave ]
}

@test "nothing is offered for a value that nobody can guess" {
    [ "$(offers run --wait '')" = "" ]
    [ "$(offers run -E '')" = "" ]
    [ "$(offers run -w = '')" = "" ]
}

@test "values are stepped over" {
    [ "$(offers run -w 5 --verb)" = --verbose ]
    [ "$(offers run --wait = 5 --verb)" = --verbose ]
    [ "$(offers run --key --wait --verb)" = --verbose ]
}

@test "files are offered where a file is wanted" {
    [ "$(offers run --note "$HF_SRC/LICEN")" = "$HF_SRC/LICENSE" ]
    [ "$(offers ctl class lint "$HF_SRC/LICEN")" = "$HF_SRC/LICENSE" ]
    [ "$(offers ctl --store "$HF_SRC/LICEN")" = "$HF_SRC/LICENSE" ]
}

@test "commands of the system are offered where the job's name is due" {
    [[ " $(offers run basenam) " == *" basename "* ]]
    [[ " $(offers run -w 5 -- basenam) " == *" basename "* ]]
}

@test "behind the job's name its own completion is asked" {
    _command_offset() { COMPREPLY=("from word $1"); }
    [ "$(offers run -v prog --w)" = "from word 2" ]
    [ "$(offers run -w 5 -- prog --w)" = "from word 4" ]
}

@test "a tool's commands are offered, and the second words of a group" {
    [ "$(offers ctl '')" = "ls show class" ]
    [ "$(offers ctl s)" = show ]
    [ "$(offers ctl class '')" = "ls lint" ]
    [ "$(offers ctl --store /x cl)" = class ]
    [ "$(offers ctl ls '')" = "" ]
}

@test "each command has its own options and the tool's" {
    [ "$(offers ctl --)" = "--store --help --version" ]
    [ "$(offers ctl ls --)" = "--store --help --version --json --all --limit" ]
    [ "$(offers ctl show KEY --)" = "--store --help --version --class --json" ]
    [ "$(offers ctl class ls --j)" = "" ]
}

@test "keys and classes are asked of the tool that knows them" {
    ctl() {
        [ "$1 $2" = "offer keys" ] && echo "$3-asked"
        [ "$1 $2" = "offer classes" ] && echo "$3-class"
        echo noise >&2
    }
    COMP_LINE='ctl show ke' COMP_POINT=11
    [ "$(offers ctl show ke)" = ke-asked ]
    COMP_LINE='ctl show --class=ba' COMP_POINT=19
    [ "$(offers ctl show --class = ba)" = ba-class ]
    COMP_LINE='ctl show --class ba' COMP_POINT=19
    [ "$(offers ctl show --class ba)" = ba-class ]
}

@test "of a key with a colon, which bash takes for two words, the end is offered" {
    ctl() { echo "$3-asked"; }
    COMP_LINE='ctl show t/n/a:b@c' COMP_POINT=18
    [ "$(typed=@c offers ctl show t/n/a : b @c)" = @c-asked ]
    COMP_LINE='ctl show t/n/a:' COMP_POINT=15
    [ "$(typed= offers ctl show t/n/a :)" = -asked ]
}

@test "a hidden command is not offered" {
    [ "$(offers ctl o)" = "" ]
    [[ $(print ctl zsh) != *"offer:"* ]]
    [[ $(print ctl fish) != *"-a offer"* ]]
}

@test "the files are right for bash to read" {
    bash -n <(print run bash)
    bash -n <(print ctl bash)
}

@test "zsh gets the files that were tried in it" {
    diff -u "$HF_SRC/tests/unit/completion/run.zsh" <(print run zsh)
    diff -u "$HF_SRC/tests/unit/completion/ctl.zsh" <(print ctl zsh)
}

@test "fish gets the files that were tried in it" {
    diff -u "$HF_SRC/tests/unit/completion/run.fish" <(print run fish)
    diff -u "$HF_SRC/tests/unit/completion/ctl.fish" <(print ctl fish)
}
