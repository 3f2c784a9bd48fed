#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence pausetest on PostgreSQL: guarded, by a script that knows nothing of
# it, and unguarded.

load lib
load pg
. "$HF_SRC/tests/fence/pausetest.bash"

setup_file() {
    pg_bin >/dev/null || return 0
    T_begin
    pg_start
    pg_fresh
    sql -c 'CREATE TABLE written (v text); INSERT INTO written VALUES (NULL)' \
        -c 'CREATE TABLE guarded (v text); INSERT INTO guarded VALUES (NULL)' \
        -c 'CREATE TABLE unguarded (v text); INSERT INTO unguarded VALUES (NULL)'
    lockfence pg init --key t/n/run guarded
    local read='psql -X -At -c "SELECT v FROM'
    T write --key t/n/write --verify "$read written\"" --write \
        "lockfence pg write -c \"UPDATE written SET v = '\$PAUSETEST_WRITE'\""
    T run --key t/n/run --verify "$read guarded\"" --write \
        "lockfence pg run -- psql -X -q -v ON_ERROR_STOP=1 \
         -c \"UPDATE guarded SET v = '\$PAUSETEST_WRITE'\""
    T unguarded --key t/n/unguarded --verify "$read unguarded\"" --write \
        "psql -X -q -v ON_ERROR_STOP=1 \
         -c \"UPDATE unguarded SET v = '\$PAUSETEST_WRITE'\""
    T wrong --key t/n/wrong --verify "$read written\"" --write \
        'lockfence pg write -c "UPDATE no_such_table SET v = 1"'
    T_wait
}
setup() { pg_bin >/dev/null || skip 'no PostgreSQL server here'; }
teardown_file() {
    pg_stop
    rm -rf "${T-}"
}

@test "lockfence pg write is FENCED" {
    came_out write 0
    trial 'right refused a part of that job'
    trial 'right refused a writer stopped on its way'
}

@test "an unmodified psql on a guarded table is FENCED" {
    came_out run 0
    trial 'right refused a part of that job'
    trial 'right refused a writer stopped on its way'
}

@test "an unguarded table is NOT FENCED" {
    came_out unguarded 1
}

@test "SQL that is wrong is INCONCLUSIVE" {
    came_out wrong 2
    contains 'INCONCLUSIVE: holder one writes'
}
