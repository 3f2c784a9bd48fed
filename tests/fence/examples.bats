#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The lines of examples/fenced.crontab, run as cron runs them, with s3-publish.sh
# and pg-nightly.sql.

load lib
load pg
. "$HF_SRC/tests/fence/s3.bash"
. "$HF_SRC/tests/cli/cron.bash"

setup() {
    s3_clean
    D=$(mktemp -d)
    mkdir "$D/store"
    T=$D
    stub_pids=()
    stub_count=0
}
teardown() {
    stub_stop
    pg_stop
    rm -rf "$D"
}

@test "the S3 job publishes, and again; a stale one does not" {
    need_s3
    local first
    stub
    mkdir "$D/.aws"
    printf '%s\n' '[publisher]' 'aws_access_key_id = stubkey' \
        'aws_secret_access_key = stubsecret' >"$D/.aws/credentials"
    local there=(AWS_ENDPOINT_URL="$AWS_ENDPOINT_URL" REPORT=s3://reports/latest.json.gz)
    expect 0 as_cron fenced.crontab s3-publish "${there[@]}"
    [ -z "$output" ]
    lockfence s3 get s3://reports/latest.json.gz | gzip -dc | grep '"host":'
    first=$(lockfence s3 status s3://reports/latest.json.gz)
    expect 0 as_cron fenced.crontab s3-publish "${there[@]}"
    [ -z "$output" ]
    expect 0 lockfence s3 status s3://reports/latest.json.gz
    [ "$output" != "$first" ]

    # A newer holder elsewhere; the clock of this store is behind.
    echo '{}' | gzip | lockfence s3 put s3://reports/latest.json.gz \
        -t 9000000000000000000
    expect 80 as_cron fenced.crontab s3-publish "${there[@]}"
    contains 'is stale'
    [ ${#lines[@]} = 1 ]
    [ "$(lockfence s3 get s3://reports/latest.json.gz | gzip -dc)" = '{}' ]
}

@test "the S3 job is skipped without a word while another one runs" {
    local holder
    mkfifo "$D/ready" "$D/end"
    HOLDFAST_STORE=$D/store/db lockrun --key=site/report/publish -- \
        sh -c "echo >$D/ready; read x <$D/end" 3>&- &
    holder=$!
    read -r _ <"$D/ready"
    expect 0 as_cron fenced.crontab s3-publish
    [ -z "$output" ]
    echo >"$D/end"
    wait $holder
}

@test "the nightly PostgreSQL job rolls up, and again; a stale one does not" {
    pg_bin >/dev/null || skip 'no PostgreSQL server here'
    pg_start
    sql -c 'CREATE DATABASE shop'
    export PGDATABASE=shop
    sql -c 'CREATE TABLE orders (day date)' \
        -c 'INSERT INTO orders SELECT current_date - 1 FROM generate_series(1, 7)' \
        -c 'CREATE TABLE rollup (day date, orders bigint)'
    lockfence pg init --key shop/nightly/rollup rollup
    local there=(PGHOST="$PGHOST" PGUSER=postgres)
    expect 0 as_cron fenced.crontab pg-nightly "${there[@]}"
    [ -z "$output" ]
    [ "$(sql -c 'SELECT orders FROM rollup')" = 7 ]
    sql -c 'INSERT INTO orders VALUES (current_date - 1)'
    expect 0 as_cron fenced.crontab pg-nightly "${there[@]}"
    [ "$(sql -c 'SELECT orders FROM rollup')" = 8 ]

    lockfence pg write -t 9000000000000000000 -k shop/nightly/rollup \
        -c 'UPDATE rollup SET orders = 0'
    expect 80 as_cron fenced.crontab pg-nightly "${there[@]}"
    [ "$(sql -c 'SELECT orders FROM rollup')" = 0 ]
}
