# SPDX-License-Identifier: Apache-2.0
# Lines of examples/*.crontab, run as cron runs them. Sourced; $D is the test's.

# as_cron CRONTAB WORD [NAME=VALUE...]: the one line of that crontab that has
# WORD, by sh, in the environment that the crontab gives it and no other; then the
# values. In the root folder, with nothing to read.
as_cron() {
    local file=$HF_SRC/examples/$1 word=$2 line given=() command=
    shift 2
    while IFS= read -r line; do
        case $line in
        '#'* | '') ;;
        [A-Z]*=*) given+=("$line") ;;
        *"$word"*)
            [ -z "$command" ] || { echo "two lines have $word"; return 99; }
            command=$(cut -d ' ' -f 6- <<<"$line")
            ;;
        esac
    done <"$file"
    [ -n "$command" ] || { echo "no line has $word"; return 99; }
    (cd / && env -i HOME="$D" LOGNAME=nobody "${given[@]}" \
        EXAMPLES="$HF_SRC/examples" PATH="$PATH" HOLDFAST_STORE="$D/store/db" "$@" \
        /bin/sh -c "$command" </dev/null)
}
