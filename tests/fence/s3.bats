#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence s3: the rule, what is asked of the store, and what its accidents come
# to. Against s3_server.py, which compares each signature with botocore's.

load lib
. "$HF_SRC/tests/fence/s3.bash"

setup() {
    need_s3
    s3_clean
    D=$(mktemp -d)
    cd "$D"
    stub_pids=()
    stub_count=0
}

teardown() {
    cd /
    stub_stop
    ! mountpoint -q "$D/small" || umount "$D/small"
    rm -rf "$D"
}

# put TEXT ARGUMENT...: lockfence s3 put with TEXT as input.
put() {
    local text=$1
    shift
    printf '%s\n' "$text" | lockfence s3 put "$@"
}
get() { lockfence s3 get "$@"; }
token_of() { lockfence s3 status "$1" | sed -n 's/^token *//p'; }

@test "what is put is got back, with its mark" {
    stub
    expect 0 put one s3://fence/o -t 7 --grant g --key t/n/k
    [ -z "$output" ]
    expect 0 get s3://fence/o
    [ "$output" = one ]
    expect 0 lockfence s3 status s3://fence/o
    contains 'token     7'
    contains 'grant     g'
    contains 'key       t/n/k'
    contains 'size      4'
    expect 0 lockfence s3 status s3://fence/o --json
    contains '"token":"7","grant":"g","key":"t/n/k","size":4'
    expect 0 lockfence s3 status s3://fence/absent
    contains 'state     absent'
}

token_row() {
    local verdict=$1 token=$2
    if [ "$verdict" = accept ]; then
        expect 0 put x "s3://fence/t$((++row))" --token="$token"
        [ "$(token_of "s3://fence/t$row")" = "$token" ]
    else
        expect 64 put x s3://fence/refused --token="$token"
        if [ -n "$token" ]; then
            LOCK_TOKEN=$token expect 64 put x s3://fence/refused
        else
            LOCK_TOKEN= expect 83 put x s3://fence/refused
        fi
    fi
}

@test "tokens at the edges are accepted or refused as in every fence" {
    stub
    row=0
    each_row tokens.tsv token_row
    expect 0 lockfence s3 status s3://fence/refused
    contains absent
}

status_of() {
    case $1 in
    first | raised | same) echo 0 ;;
    stale) echo 80 ;;
    other-grant) echo 81 ;;
    repeated) echo 82 ;;
    other-key) echo 85 ;;
    esac
}

rule_row() {
    local mark_key=$5 key=$8 strict=${9} verdict=${10} url=s3://fence/r$((++row))
    unset LOCK_KEY
    if [ "$3" != - ]; then
        [ "$mark_key" = - ] || export LOCK_KEY=$mark_key
        expect 0 put old "$url" --token="$3" --grant="${4#-}"
        unset LOCK_KEY
    fi
    [ "$key" = - ] || export LOCK_KEY=$key
    expect "$(status_of "$verdict")" \
        put new "$url" --token="$6" --grant="${7#-}" ${strict/#strict/--strict}
    unset LOCK_KEY
    case $verdict in
    first | raised | same) [ "$(get "$url")" = new ] ;;
    *) [ "$(get "$url")" = old ] ;;
    esac
}

@test "marks and claims are judged by the rule of every fence" {
    stub
    row=0
    each_row rules.tsv rule_row
}

@test "every write depends on what was seen, and every request is signed right" {
    stub
    expect 0 put one s3://fence/o -t 7
    expect 0 put two s3://fence/o -t 8
    expect 80 put three s3://fence/o -t 7
    [ "$(requests '^PUT .* 200')" = 2 ]
    [ "$(requests ' 403')" = 0 ]
    [ "$(requests 'BAD')" = 0 ]
    ! "$HF_SRC/tests/peers/build" --where >/dev/null ||
        [ "$(requests 'signature ok')" = "$(requests .)" ]
}

@test "odd names and headers are encoded and signed right" {
    local name
    stub
    for name in 'a b' 'ä/ö' 'a+b=c&d;e' 'a%20b' "q'(*)!~" '日本' 'a//b' 'tab	x'; do
        expect 0 put "$name" "s3://fence/$name" -t 1
        expect 0 get "s3://fence/$name"
        [ "$output" = "$name" ]
    done
    # One name begins the other: their order in the signature is a known trap.
    AWS_SESSION_TOKEN=a/b+c== expect 0 put x s3://fence/h -t 1 \
        --content-type 'text/plain;  charset=utf-8' \
        --header Cache-Control=no-cache --header x-amz-meta-a=1 \
        --header x-amz-meta-a-b=2 --header 'x-amz-meta-a.c= spaced   out ' \
        --header x-amz-server-side-encryption=aws:kms \
        --header x-amz-server-side-encryption-aws-kms-key-id=k
    [ "$(requests BAD)" = 0 ]
}

@test "headers that are the fence's own are refused" {
    local name
    stub
    for name in if-match If-None-Match x-amz-meta-lock-token authorization \
        host x-amz-date x-amz-copy-source; do
        expect 64 put x s3://fence/o -t 1 --header "$name=1"
        contains 'is not given this way'
    done
    expect 64 put x s3://fence/o -t 1 --header $'a=b\nc'
    [ "$(requests '^PUT')" = 0 ]
}

@test "an object that does not know the fence is left alone, and adopted once" {
    stub
    expect 0 put old s3://fence/o -t 5
    # Written past the fence: its metadata is gone.
    peers=$("$HF_SRC/tests/peers/build" --where) || skip 'no botocore to sign with'
    "$peers/bin/python" - <<'END'
import botocore.session, botocore.config
c = botocore.session.get_session().create_client(
    "s3", region_name="us-east-1",
    config=botocore.config.Config(s3={"addressing_style": "path"}))
c.put_object(Bucket="fence", Key="o", Body=b"by hand\n")
END
    expect 84 put new s3://fence/o -t 6
    contains 'has no mark'
    contains --adopt
    [ "$(get s3://fence/o)" = 'by hand' ]
    expect 0 put new s3://fence/o -t 6 --adopt
    expect 80 put older s3://fence/o -t 5 --adopt
    [ "$(get s3://fence/o)" = new ]
}

# ---- accidents (hazard 80) ----------------------------------------------------

@test "an answer that is lost is settled by the object's own put" {
    stub fail-put=1:drop-after
    expect 0 put one s3://fence/o -t 7 --json
    contains '"settled":true,"tries":1'
    [ "$(get s3://fence/o)" = one ]
    stub_stop
    stub fail-put=1:500-after
    expect 0 put one s3://fence/o -t 7 --json --strict
    contains '"settled":true,"tries":1'
    [ "$(requests '^PUT')" = 1 ]
}

@test "a write that was not done is done again, under the same condition" {
    local how
    for how in drop-before 500 503 409; do
        stub fail-put=1:$how
        expect 0 put one s3://fence/o -t 7 --json --strict
        contains '"settled":false,"tries":2'
        [ "$(get s3://fence/o)" = one ]
        stub_stop
    done
}

@test "a newer holder's write between two tries is left alone" {
    local first
    stub fail-put=1:drop-before
    # The second holder writes while the first one tries: before its next try,
    # or after it.
    put one s3://fence/o -t 7 2>first.err &
    wait_for dropped
    expect 0 put two s3://fence/o -t 8
    wait $! && first=0 || first=$?
    [ $first = 0 ] || [ $first = 80 ]
    [ "$(get s3://fence/o)" = two ]
    [ "$(token_of s3://fence/o)" = 8 ]
}
dropped() { [ "$(requests dropped)" = 1 ]; }

@test "an outcome that cannot be learned is said to be one" {
    stub fail-put=all:500
    expect 86 put one s3://fence/o -t 7
    contains 'is not known'
    [ "$(requests '^PUT')" = 10 ]
    expect 0 lockfence s3 status s3://fence/o
    contains absent
}

@test "a store that is not there is one line, soon" {
    export AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b
    export AWS_ENDPOINT_URL=http://127.0.0.1:9
    expect 69 put one s3://fence/o -t 7
    [ ${#lines[@]} = 1 ]
    contains 's3://fence/o at 127.0.0.1:9'
    expect 69 lockfence s3 put s3://fence/o "$D/missing" -t 7
    [ ${#lines[@]} = 1 ]
    contains "$D/missing: No such file"
    AWS_ENDPOINT_URL=http://no-such-host.invalid expect 69 put one s3://fence/o -t 7
    [ ${#lines[@]} = 1 ]
}

@test "wrong keys are one line, and change nothing" {
    stub
    expect 0 put one s3://fence/o -t 7
    AWS_SECRET_ACCESS_KEY=wrong run put two s3://fence/o -t 8
    "$HF_SRC/tests/peers/build" --where >/dev/null || skip 'nothing to compare with'
    [ "$status" = 77 ]
    [ ${#lines[@]} = 1 ]
    [ "$(get s3://fence/o)" = one ]
}

@test "a bucket that is not there is one line, at once" {
    stub no-bucket
    expect 65 put one s3://fence/o -t 7
    contains 'there is no such bucket'
    [ ${#lines[@]} = 1 ]
    [ "$(requests '^PUT')" = 1 ]
}

@test "no redirect is followed" {
    stub
    local other=$stub_log url=$AWS_ENDPOINT_URL
    stub redirect="$url"
    expect 78 put one s3://fence/o -t 7
    expect 78 get s3://fence/o
    [ ! -s "$other" ]
}

@test "the store's certificate is checked" {
    command -v openssl >/dev/null || skip 'no openssl here'
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 -keyout key -out cert 2>/dev/null
    cat key cert >both
    stub tls="$D/both"
    export AWS_ENDPOINT_URL=https://127.0.0.1:$stub_port
    expect 69 put one s3://fence/o -t 7
    contains certificate
    [ "$(requests .)" = 0 ]
    AWS_CA_BUNDLE=$D/cert expect 0 put one s3://fence/o -t 7
    export AWS_ENDPOINT_URL=https://localhost:$stub_port
    AWS_CA_BUNDLE=$D/cert expect 69 put one s3://fence/o -t 8
}

# ---- bytes ---------------------------------------------------------------------

@test "P06: a writer killed half way leaves the object as it was, for good" {
    stub fail-put=2:stall
    expect 0 put one s3://fence/o -t 7
    head -c 20000000 /dev/zero >big
    lockfence s3 put s3://fence/o big -t 7 &
    local writer=$!
    wait_for stalled
    kill -9 $writer
    wait $writer || :
    expect 0 put two s3://fence/o -t 8
    [ "$(get s3://fence/o)" = two ]
    # No upload in parts, which somebody could complete later.
    [ "$(requests '\?')" = 0 ]
}
stalled() { [ "$(requests stalled)" = 1 ]; }

@test "more than one write takes is refused before anything is sent" {
    stub
    truncate -s 5368709121 huge
    expect 64 lockfence s3 put s3://fence/o huge -t 7
    contains '5 GiB'
    [ "$(requests '^PUT')" = 0 ]
}

@test "a full folder for what comes by a pipe is one line, and nothing is sent" {
    need_root
    stub
    mkdir small
    mount -t tmpfs -o size=1m none small
    TMPDIR=$D/small run sh -c \
        'head -c 3000000 /dev/zero | lockfence s3 put s3://fence/o -t 7'
    [ "$status" = 69 ]
    [ ${#lines[@]} = 1 ]
    contains 'is full'
    [ "$(requests '^PUT')" = 0 ]
}

@test "bad input is one line, and changes nothing" {
    stub
    expect 0 put one s3://fence/o -t 7
    mkdir dir
    expect 64 lockfence s3 put s3://fence/o dir -t 8
    [ ${#lines[@]} = 1 ]
    expect 69 lockfence s3 put s3://fence/o none -t 8
    expect 69 sh -c 'lockfence s3 put s3://fence/o -t 8 <&-'
    expect 64 lockfence s3 put s3://fence/ -t 8
    expect 64 lockfence s3 put fence/o -t 8
    expect 64 lockfence s3 put s3://a/o -t 8
    expect 64 lockfence s3 put 's3://fe nce/o' -t 8
    expect 83 put two s3://fence/o
    [ "$(get s3://fence/o)" = one ]
    [ "$(token_of s3://fence/o)" = 7 ]
}

@test "a missing token is refused before the input is read" {
    stub
    mkfifo pipe
    sleep 60 >pipe 3>&- &
    local feeder=$!
    expect 83 timeout 20 lockfence s3 put s3://fence/o pipe
    expect 0 put one s3://fence/o -t 7
    expect 80 timeout 20 lockfence s3 put s3://fence/o pipe -t 6
    kill $feeder
}

@test "hazard 81: a stamp makes each put's ETag its own" {
    local first
    stub
    etag() { lockfence s3 status "$1" | sed -n 's/^etag *//p'; }
    expect 0 put a s3://fence/o -t 7
    first=$(etag s3://fence/o)
    expect 0 put b s3://fence/o -t 8
    expect 0 put a s3://fence/o -t 9
    [ "$(etag s3://fence/o)" = "$first" ]
    # The same bytes over themselves: the hole is open, and is said.
    expect 0 put a s3://fence/o -t 10
    contains 'these bytes were there already'
    expect 0 put a s3://fence/o -t 10 --quiet
    [ -z "$output" ]

    expect 0 put a s3://fence/l -t 7 --stamp-line='# '
    first=$(etag s3://fence/l)
    expect 0 put a s3://fence/l -t 7 --stamp-line='# '
    [ -z "$output" ]
    [ "$(etag s3://fence/l)" != "$first" ]
    expect 0 get s3://fence/l
    [ "${lines[0]}" = a ]
    [[ ${lines[1]} == '# lock-token=7 lock-grant=none lock-put='* ]]
    [ ${#lines[@]} = 2 ]

    echo text | gzip -n >z
    expect 0 lockfence s3 put s3://fence/z z -t 7 --stamp=gzip
    get s3://fence/z >got
    [ "$(gzip -dc got)" = text ]
    gzip -t got
    first=$(etag s3://fence/z)
    expect 0 lockfence s3 put s3://fence/z z -t 7 --stamp=gzip
    [ "$(etag s3://fence/z)" != "$first" ]
    expect 64 put text s3://fence/z -t 7 --stamp=gzip
    expect 64 put text s3://fence/z -t 7 --stamp=zstd
    [ "$(get s3://fence/z | gzip -dc)" = text ]
}

@test "hazard 81: zstd passes over its stamp" {
    command -v zstd >/dev/null || skip 'no zstd here'
    stub
    echo text | zstd -q >z
    expect 0 lockfence s3 put s3://fence/z z -t 7 --stamp=zstd
    get s3://fence/z >got
    [ "$(wc -c <got)" -gt "$(wc -c <z)" ]
    [ "$(zstd -dcq got)" = text ]
}

@test "a guard object keeps a mark for a set of others" {
    stub
    expect 0 lockfence s3 guard s3://fence/guard -t 7 --grant a
    [ "$(token_of s3://fence/guard)" = 7 ]
    expect 0 put one s3://fence/new -t 8 --grant b --guard s3://fence/guard
    [ "$(token_of s3://fence/guard)" = 8 ]
    # An object that the newer holder has not come to yet.
    expect 80 put late s3://fence/other -t 7 --grant a --guard s3://fence/guard
    expect 0 lockfence s3 status s3://fence/other
    contains absent
    expect 80 lockfence s3 guard s3://fence/guard -t 7 --grant a
    contains s3://fence/guard
}

@test "get: whole or not at all, and not for a holder that is overtaken" {
    stub
    expect 0 put one s3://fence/o -t 7 --key t/n/k
    echo before >f
    expect 0 get s3://fence/o f
    [ "$(cat f)" = one ]
    expect 80 get s3://fence/o f -t 6 --key t/n/k
    expect 0 get s3://fence/o f -t 6 --key t/n/other
    expect 65 get s3://fence/none f
    [ "$(cat f)" = one ]
    stub_stop
    stub cut-get
    expect 0 put two s3://fence/o -t 7
    expect 69 get s3://fence/o f
    [ "$(cat f)" = one ]
    [ "$(ls)" = "$(printf '%s\n' f stub.1.log stub.2.log stub.ready.1 stub.ready.2)" ]
}

# ---- where keys come from ---------------------------------------------------------

@test "keys, region and endpoint are found as the aws tools find them" {
    stub
    expect 0 put one s3://fence/o -t 1
    unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_ENDPOINT_URL
    unset AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE
    export HOME=$D
    expect 78 get s3://fence/o
    contains 'no S3 keys'
    mkdir .aws
    printf '%s\n' '# mine' '[default]' 'aws_access_key_id = stubkey' \
        'aws_secret_access_key=stubsecret' '[bad]' \
        'aws_access_key_id = stubkey' >.aws/credentials
    printf '%s\n' '[default]' "endpoint_url = http://127.0.0.1:$stub_port" \
        '[profile other]' 'aws_access_key_id = stubkey' \
        'aws_secret_access_key = stubsecret' 'services = here' \
        '[services here]' 's3 =' "  endpoint_url = http://127.0.0.1:$stub_port" \
        '[profile sso]' 'sso_session = x' >.aws/config
    expect 0 get s3://fence/o
    AWS_PROFILE=other expect 0 get s3://fence/o
    expect 0 get s3://fence/o --profile other
    AWS_PROFILE=nobody expect 78 get s3://fence/o
    contains 'no profile "nobody"'
    AWS_PROFILE=bad expect 78 get s3://fence/o
    contains 'half of a pair'
    AWS_PROFILE=sso expect 78 get s3://fence/o
    contains 'aws configure export-credentials'
    # The environment's keys go before AWS_PROFILE, and not before --profile.
    export AWS_ACCESS_KEY_ID=stubkey AWS_SECRET_ACCESS_KEY=stubsecret
    AWS_PROFILE=sso AWS_ENDPOINT_URL_S3=http://127.0.0.1:$stub_port \
        expect 0 get s3://fence/o
    AWS_ENDPOINT_URL_S3=http://127.0.0.1:$stub_port \
        expect 78 get s3://fence/o --profile sso
    AWS_ENDPOINT_URL=ftp://x expect 78 get s3://fence/o
    AWS_ENDPOINT_URL=http://127.0.0.1:1 expect 0 \
        get s3://fence/o --endpoint "http://127.0.0.1:$stub_port"
}

@test "the bucket goes into the path, or into the host's name" {
    stub
    expect 0 put one s3://fence/o -t 1
    [ "$(requests '^PUT /fence/o ')" = 1 ]
    AWS_ENDPOINT_URL=http://localhost:$stub_port \
        expect 0 put two s3://fence/o -t 2 --style virtual
    [ "$(requests '^PUT /o ')" = 1 ]
    [ "$(get s3://fence/o)" = two ]
}

# ---- the probe ----------------------------------------------------------------------

@test "P04, hazard 79: a store that is no fence is told by one sentence" {
    local fault sentence
    while IFS=: read -r fault sentence; do
        stub "$fault"
        expect 84 lockfence s3 probe s3://fence/
        contains "$sentence"
        [ "$(printf '%s\n' "${lines[@]}" | grep -c '^lockfence: ')" = 1 ]
        ! contains 'is a fence' >/dev/null || false
        expect 84 lockfence s3 probe s3://fence/ --json
        contains '"fence":false'
        stub_stop
    done <<'END'
ignore-match:ignores If-Match
ignore-none-match:ignores If-None-Match
missing-is-match:not there
judge-early:before the bytes have come
two-steps:in two steps
drop-meta:does not keep the mark
not-implemented:does not take conditional writes
no-etag:no ETag
END
}

@test "a store that keeps to conditions is a fence, and keeps nothing of the probe" {
    stub
    expect 0 lockfence s3 probe s3://fence/folder/
    contains 'This store is a fence.'
    [ "$(requests '^DELETE .* 204')" = 2 ]
    expect 0 lockfence s3 probe s3://fence --json
    contains '"fence":true'
    contains '"race":true'
}
