#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence pg run and pg write: one clear line, a status of its own, and nothing
# half-written; directly and through a pooler.

load lib
load pg

setup_file() { pg_start -c wal_level=replica -c max_wal_senders=2; }
teardown_file() { pg_stop; }

setup() {
    T=$(mktemp -d)
    pg_fresh
    sql -c 'CREATE TABLE t (id int PRIMARY KEY, v text)' \
        -c 'CREATE TABLE free (id int PRIMARY KEY, v text)'
    lockfence pg init -k t/n/k t 
    # What lockrun would set.
    export LOCK_KEY=t/n/k LOCK_TOKEN=6 LOCK_SESSION=new
}
teardown() {
    bouncer_stop
    rm -rf "$T"
}

as_old() { LOCK_TOKEN=5 LOCK_SESSION=old "$@"; }
raise() { sql -c "SELECT holdfast.guard('t/n/k', $1, '$2')"; }
rows() { sql -c 'SELECT id, v FROM t ORDER BY id' | paste -sd' '; }
one_line() { [ "$(wc -l <<<"$output")" = 1 ] || { echo "$output"; return 1; }; }

# ---- run ---------------------------------------------------------------------------

@test "an unmodified script works for the current holder" {
    printf '%s\n' "INSERT INTO t VALUES (1, 'a');" "UPDATE t SET v = 'b';" \
        "INSERT INTO free VALUES (1, 'c');" >"$T/job.sql"
    expect 0 lockfence pg run -- psql -q -f "$T/job.sql"
    [ "$output" = '' ]
    [ "$(rows)" = '1|b' ]
    expect 0 lockfence pg run -- psql -q -f "$T/job.sql" -v ON_ERROR_STOP=0
}

@test "a stale one gets one line and 80, and its command is not even started" {
    raise 6 new
    printf '%s\n' "INSERT INTO free VALUES (1, 'c');" "INSERT INTO t VALUES (1, 'a');" \
        >"$T/job.sql"
    as_old expect 80 lockfence pg run -- psql -q -f "$T/job.sql"
    one_line
    contains 'token 5 is stale: key t/n/k has been written with token 6'
    [ "$(rows)" = '' ]
    [ "$(sql -c 'SELECT count(*) FROM free')" = 0 ]
    LOCK_SESSION=other expect 81 lockfence pg run -- psql -q -f "$T/job.sql"
    one_line
    # Left to itself it is refused by the tables.
    as_old run lockfence pg run --no-check -- psql -q -v ON_ERROR_STOP=1 -f "$T/job.sql"
    [ "$status" = 3 ]
    contains 'token 5 is stale'
    [ "$(rows)" = '' ]
}

@test "who is overtaken while its command runs ends with 80, whatever that says" {
    raise 5 old
    cat >"$T/job" <<'S'
psql -q -c "INSERT INTO t VALUES (1, 'old')"
psql -q -v ON_ERROR_STOP=1 -c "SELECT holdfast.guard('t/n/k', 6, 'new')"
psql -q -c "INSERT INTO t VALUES (2, 'old')" 2>&1
exit 0
S
    as_old expect 80 lockfence pg run -- sh "$T/job"
    contains 'sh ended with 0, and has been overtaken'
    [ "$(rows)" = '1|old' ]
}

@test "a key that guards no table is told before the command starts: 85" {
    printf '%s\n' "INSERT INTO t VALUES (1, 'a');" >"$T/job.sql"
    LOCK_KEY=t/n/misspelt expect 85 lockfence pg run -- psql -q -f "$T/job.sql"
    one_line
    contains 'no table of this database is guarded under t/n/misspelt'
    contains 'guarded under t/n/k:'
    # For a role that may not see holdfast.guarded, too.
    sql -c "DO \$\$ BEGIN CREATE ROLE plain LOGIN;
        EXCEPTION WHEN duplicate_object THEN END \$\$" -c 'GRANT ALL ON t TO plain'
    PGUSER=plain LOCK_KEY=t/n/misspelt expect 85 lockfence pg run -- touch "$T/ran"
    PGUSER=plain expect 0 lockfence pg run -- psql -q -f "$T/job.sql"
    # Left to itself psql goes on, and its 0 says nothing: the table refuses.
    LOCK_KEY=t/n/misspelt expect 0 lockfence pg run --no-check -- \
        psql -q -f "$T/job.sql"
    contains 'the table is guarded under key t/n/k, and this token is for key t/n/misspelt'
    contains 'Give lockrun --key=t/n/k.'
    [ ! -e "$T/ran" ]
    [ "$(rows)" = '1|a' ]
    # Where no table is guarded it is the command that looks at the key.
    sql -c "SELECT holdfast.detach('t')"
    LOCK_KEY=t/n/other expect 0 lockfence pg run -- psql -q -c 'SELECT 1'
}

@test "the command's own status passes, and what cannot be run is told" {
    expect 3 lockfence pg run -- sh -c 'exit 3'
    expect 75 lockfence pg run -- sh -c 'exit 75'
    expect 137 lockfence pg run -- sh -c 'kill -9 $$'
    expect 127 lockfence pg run -- no-such-command
    contains 'no-such-command'
    expect 126 lockfence pg run -- "$T"
    expect 64 lockfence pg run
    # Its input and its words are its own.
    run bash -c 'echo in | lockfence pg run -- sh -c "cat; echo \$1" x -t'
    [ "$output" = $'in\n-t' ]
}

@test "a signal for the tool reaches the command, and its end does not wait" {
    lockfence pg run -- sh -c 'trap "echo term >>'"$T"'/got; exit 9" TERM
        : >'"$T"'/ready; while :; do sleep 0.05; done' 3>&- &
    tool=$!
    wait_for test -e "$T/ready"
    kill -TERM $tool
    status=0
    wait $tool || status=$?
    [ "$status" = 9 ]
    [ "$(cat "$T/got")" = term ]
}

@test "without a token, a guard, a server or the right to it nothing is run" {
    touch_it="touch $T/ran"
    (unset LOCK_TOKEN; expect 83 lockfence pg run -- $touch_it; contains 'LOCK_TOKEN is not set')
    LOCK_TOKEN=0x6 expect 64 lockfence pg run -- $touch_it
    PGHOST=$T expect 69 lockfence pg run -- $touch_it
    contains '--no-check'
    PGUSER=nobody-there expect 77 lockfence pg run -- $touch_it
    PGDATABASE=nosuch expect 77 lockfence pg run -- $touch_it
    PGDATABASE=postgres expect 84 lockfence pg run -- $touch_it
    contains 'database postgres has no guard'
    expect 84 lockfence pg run -d dbname=postgres -- $touch_it
    [ ! -e "$T/ran" ]
    PGHOST=$T expect 0 lockfence pg run --no-check -- $touch_it
    [ -e "$T/ran" ]
}

@test "a wrong password is a refusal, told from an outage" {
    sql -c "DO \$\$ BEGIN CREATE ROLE secret LOGIN PASSWORD 'right';
        EXCEPTION WHEN duplicate_object THEN END \$\$"
    cp "$PG_DIR/data/pg_hba.conf" "$T/hba"
    printf 'local all secret scram-sha-256\nlocal all all trust\n' >"$PG_DIR/data/pg_hba.conf"
    sql -c 'SELECT pg_reload_conf()' >/dev/null
    PGUSER=secret PGPASSWORD=wrong expect 77 lockfence pg write -c 'SELECT 1'
    contains 'password authentication failed'
    [[ $output != *28P01* ]]
    one_line
    cp "$T/hba" "$PG_DIR/data/pg_hba.conf"
    sql -c 'SELECT pg_reload_conf()' >/dev/null
}

@test "options that PGOPTIONS has already are kept, but for an older token" {
    export PGOPTIONS='-c statement_timeout=1234 -c holdfast.token=5'
    run lockfence pg run -- psql -qAt -c 'SHOW statement_timeout' -c 'SHOW holdfast.token' \
        -c 'SHOW holdfast.key'
    [ "$(paste -sd, <<<"$output")" = 1234ms,6,t/n/k ]
}

# ---- write -------------------------------------------------------------------------

@test "write: all statements or none, from an option, a file or input" {
    expect 0 lockfence pg write -c "INSERT INTO t VALUES (1, 'it''s \\x'); UPDATE free SET v = 1"
    [ "$output" = '' ]
    [ "$(rows)" = "1|it's \\x" ]
    echo "INSERT INTO t VALUES (2, 'file')" >"$T/job.sql"
    expect 0 lockfence pg write -f "$T/job.sql"
    expect 0 bash -c 'echo "INSERT INTO t VALUES (3, \$\$in\$\$);" | lockfence pg write'
    expect 65 lockfence pg write -c "INSERT INTO t VALUES (4, 'x'); INSERT INTO t VALUES (1, 'x')"
    contains 'duplicate key'
    contains 'SQLSTATE 23505'
    one_line
    [ "$(rows)" = "1|it's \\x 2|file 3|in" ]
    expect 64 lockfence pg write -f "$T/none"
    printf 'a\0b' >"$T/bad"
    expect 64 lockfence pg write -f "$T/bad"
    expect 0 lockfence pg write </dev/null
    expect 64 lockfence pg write -c ''
    expect 65 lockfence pg write -f "$T"
}

@test "write: a stale token is refused in one line, before a statement runs" {
    raise 6 new
    as_old expect 80 lockfence pg write -c "INSERT INTO free VALUES (1, 'x')"
    one_line
    contains 'token 5 is stale'
    LOCK_SESSION=x expect 81 lockfence pg write -c "INSERT INTO free VALUES (1, 'x')"
    expect 82 lockfence pg write --strict -c "INSERT INTO free VALUES (1, 'x')"
    [ "$(sql -c 'SELECT count(*) FROM free')" = 0 ]
    (unset LOCK_TOKEN; expect 83 lockfence pg write -c 'SELECT 1')
    (unset LOCK_KEY; expect 64 lockfence pg write -c 'SELECT 1'; contains '--key KEY is missing')
}

@test "write: a script cannot leave the guarded transaction" {
    for way in COMMIT ROLLBACK 'BEGIN' 'SAVEPOINT s' 'PREPARE TRANSACTION '\''x'\' 'END' \
        'COMMIT; BEGIN' 'ABORT'; do
        expect 65 lockfence pg write -c "INSERT INTO t VALUES (1, 'x'); $way"
    done
    [ "$(rows)" = '' ]
}

@test "write: statements see what those before them made" {
    expect 0 lockfence pg write -c 'CREATE TABLE made (id int); INSERT INTO made VALUES (1)'
    [ "$(sql -c 'SELECT id FROM made')" = 1 ]
}

@test "write: a COPY, and one whose input fails, or whose rows are wrong" {
    expect 0 bash -c 'printf "1\ta\n2\tb\n" | lockfence pg write --copy t'
    expect 0 bash -c 'printf "id,v\n3,c\n" |
        lockfence pg write --copy "t (id, v)" --copy-options "(FORMAT csv, HEADER)"'
    [ "$(rows)" = '1|a 2|b 3|c' ]
    expect 65 bash -c 'printf "4\ta\nx\tb\n" | lockfence pg write --copy t'
    contains 'invalid input syntax'
    expect 65 lockfence pg write --copy t <"$T"
    contains 'cannot read the input'
    raise 7 newer
    expect 80 bash -c 'printf "4\ta\n" | lockfence pg write --copy t'
    [ "$(rows)" = '1|a 2|b 3|c' ]
    # More than one buffer of it.
    seq 10 100000 | sed 's/$/\tx/' >"$T/rows"
    LOCK_TOKEN=7 LOCK_SESSION=newer expect 0 lockfence pg write --copy t <"$T/rows"
    [ "$(sql -c 'SELECT count(*) FROM t')" = 99994 ]
}

again() {
    local level=$1 name=${1//-/}
    sql -c 'TRUNCATE free' -c "INSERT INTO free VALUES (1, '0')"
    session "$name"
    ask "$name" "BEGIN; UPDATE free SET v = v || 'a' WHERE id = 1;"
    lockfence pg write --isolation "$level" -c "UPDATE free SET v = v || 'b' WHERE id = 1" \
        >"$T/again" 2>&1 3>&- &
    blocked
    ask "$name" 'COMMIT;'
    wait $! || { cat "$T/again"; return 1; }
    [ "$(sql -c 'SELECT v FROM free')" = 0ab ]
}

@test "write: a serialization failure is no refusal, and is tried again" {
    again read-committed
    again repeatable-read
    again serializable
    # With one try it is told.
    session last
    ask last "BEGIN; UPDATE free SET v = 'c' WHERE id = 1;"
    lockfence pg write --isolation serializable --tries 1 \
        -c "UPDATE free SET v = 'd' WHERE id = 1" >"$T/again" 2>&1 3>&- &
    blocked
    ask last 'COMMIT;'
    status=0
    wait $! || status=$?
    [ "$status" = 65 ]
    grep -q 'given up after 1 tries.*40001' "$T/again"
}

@test "write: a server that is shut down in the middle keeps nothing" {
    lockfence pg write -c "INSERT INTO t VALUES (1, 'x'); SELECT pg_sleep(60)" \
        >"$T/out" 2>&1 3>&- &
    tool=$!
    asleep() { [ "$(sql -c "SELECT count(*) FROM pg_stat_activity
        WHERE wait_event = 'PgSleep'")" = 1 ]; }
    wait_for asleep
    sql -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" \
        >/dev/null
    status=0
    wait $tool || status=$?
    [ "$status" = 69 ]
    [ "$(wc -l <"$T/out")" = 1 ]
    [ "$(rows)" = '' ]
}

# The COMMIT waits for a standby that is not there: it is done here, and the
# server is made to break the connection before it says so.
committing() { [ "$(sql -c "SELECT count(*) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep'")" = 1 ]; }

up() { sql -c 'SELECT 1' >/dev/null 2>&1; }

# lost HOW: begins a write, ends its connection with HOW PID; its status.
lost() {
    sql -c "ALTER SYSTEM SET synchronous_standby_names = 'nobody'" -c 'SELECT pg_reload_conf()' \
        >/dev/null
    lockfence pg write -c "INSERT INTO t VALUES (1, 'x')" >"$T/out" 2>&1 3>&- &
    tool=$!
    wait_for committing
    "$@" "$(sql -c "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")"
    status=0
    wait $tool || status=$?
    wait_for up
    sql -c 'ALTER SYSTEM RESET synchronous_standby_names' -c 'SELECT pg_reload_conf()' >/dev/null
}
end_backend() { sql -c "SELECT pg_terminate_backend($1)" >/dev/null; }

@test "write: an answer lost at COMMIT is settled from another connection" {
    lost end_backend
    [ "$status" = 0 ] || { cat "$T/out"; false; }
    [ "$(rows)" = '1|x' ]
}

# Transaction numbers may come again after a crash, so that of this one proves
# nothing any more.
@test "write: an answer lost in a crash is said to be lost" {
    lost kill -9
    [ "$status" = 86 ] || { cat "$T/out"; false; }
    grep -q 'has crashed since: look whether' "$T/out"
    [ "$(rows)" = '1|x' ]
}

@test "write: a COMMIT that did not happen is told as that" {
    sql -c 'CREATE FUNCTION doze() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$' \
        -c 'CREATE CONSTRAINT TRIGGER doze AFTER INSERT ON free DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION doze()'
    lockfence pg write -c "INSERT INTO free VALUES (1, 'x')" >"$T/out" 2>&1 3>&- &
    tool=$!
    dozing() { [ "$(sql -c "SELECT count(*) FROM pg_stat_activity
        WHERE wait_event = 'PgSleep' AND query = 'COMMIT'")" = 1 ]; }
    wait_for dozing
    kill -9 "$(sql -c "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'")"
    status=0
    wait $tool || status=$?
    wait_for up
    [ "$status" = 69 ] || { echo "$status"; cat "$T/out"; false; }
    grep -q 'rolled back' "$T/out"
    [ "$(sql -c 'SELECT count(*) FROM free')" = 0 ]
}

@test "write: a full disk keeps nothing, and is told" {
    need_root
    local small=$PG_DIR/small
    mkdir "$small"
    mount -t tmpfs -o size=3M none "$small"
    chown postgres "$small"
    sql -d postgres -c 'DROP TABLESPACE IF EXISTS small' -c "CREATE TABLESPACE small LOCATION '$small'"
    sql -c 'CREATE TABLE big (v text) TABLESPACE small'
    run lockfence pg write -c "INSERT INTO big SELECT repeat('x', 1000) FROM generate_series(1, 9999)"
    kept=$(sql -c 'SELECT count(*) FROM big')
    sql -c 'DROP TABLE big'
    sql -d postgres -c 'DROP TABLESPACE small'
    umount "$small"
    [ "$status" = 69 ]
    one_line
    contains 'No space left'
    [ "$kept" = 0 ]
}

# ---- status ------------------------------------------------------------------------

@test "status shows marks" {
    unset LOCK_KEY
    raise 281474976710657 s1
    sql -c "SELECT holdfast.guard('t/n/other', 9)"
    expect 0 lockfence pg status
    contains 't/n/k
  token    281474976710657 (epoch 1, revision 1)
  grant    s1'
    contains 't/n/other'
    expect 0 lockfence pg status --json
    contains '{"key":"t/n/k","token":"281474976710657","grant":"s1"'
    expect 84 lockfence pg status t/n/none
    contains 'has no mark'
}

@test "P03: status compares a mark with what the lock service says" {
    store=sqlite:$T/store
    held() {
        env -u LOCK_TOKEN -u LOCK_KEY -u LOCK_SESSION \
            lockrun --store="$store" --key=t/n/k -- "$@"
    }
    # The holder has written: they agree.
    expect 0 held sh -c "lockfence pg write -c 'SELECT 1' && lockfence pg status t/n/k --store $store"
    [[ $output != *service* && $output != *below* && $output != *above* ]]
    # A newer holder has not written yet, or the mark was put back.
    expect 0 held lockfence pg status t/n/k --store "$store"
    contains 'is below the present holder'
    # Bump asks the service by itself.
    expect 0 held lockfence pg bump t/n/k --store "$store"
    expect 0 held sh -c "lockfence pg bump t/n/k --store $store && lockfence pg write -c 'SELECT 1'"
    # The service was put back, or is another one.
    sql -c "SELECT holdfast.guard('t/n/k', 9223372036854775806)"
    expect 84 held lockfence pg status t/n/k --store "$store"
    contains 'is above every token that this lock service has issued'
    # Nobody holds it.
    expect 0 lockfence pg bump t/n/two --store "$store"
    [ "$(sql -c "SELECT token > 281474976710656 FROM holdfast.mark WHERE key = 't/n/two'")" = t ]
}

# ---- poolers -----------------------------------------------------------------------

@test "P01: through a pooler the token is the transaction's alone" {
    bouncer_start
    connection=$(pooled sql -c 'SELECT pg_backend_pid()')
    expect 0 pooled lockfence pg write -c "INSERT INTO t VALUES (1, 'a')"
    [ "$(pooled sql -c 'SELECT pg_backend_pid()')" = "$connection" ]
    # The same server connection, another job without a token.
    pooled expect_state LK004 -c "INSERT INTO t VALUES (2, 'b')"
    pooled expect_state 00000 -c 'BEGIN' -c "SELECT holdfast.guard('t/n/k', 6, 'new')" \
        -c "INSERT INTO t VALUES (2, 'b')" -c 'COMMIT' -c "SELECT 1"
    pooled expect_state LK004 -c "INSERT INTO t VALUES (3, 'c')"
    as_old expect 80 pooled lockfence pg write -c "INSERT INTO t VALUES (3, 'c')"
    [ "$(rows)" = '1|a 2|b' ]
}

@test "P01: a token that a former job left in a pooled connection is not believed" {
    bouncer_start
    pooled sql -c "SET holdfast.token = '6'" -c "SET holdfast.grant_id = 'new'"
    # It is there for the next client, as poolers go;
    [ "$(pooled sql -c "SELECT current_setting('holdfast.token', true)")" = 6 ]
    # that the guard knows it for what it is.
    pooled expect_state LK007 -c "INSERT INTO t VALUES (1, 'left over')"
    [ "$(rows)" = '' ]
    # It does not disturb who guards itself.
    expect 0 pooled lockfence pg write -c "INSERT INTO t VALUES (1, 'a')"
    pooled expect_state LK007 -c "INSERT INTO t VALUES (2, 'left over')"
}

@test "a pooler that refuses or drops PGOPTIONS is found before the command runs" {
    bouncer_start
    expect 84 pooled lockfence pg run -- touch "$T/ran"
    contains 'a pooler refuses the options in which the token travels'
    contains 'lockfence pg write'
    bouncer_stop
    bouncer_start 'ignore_startup_parameters = options,extra_float_digits'
    expect 84 pooled lockfence pg run -- touch "$T/ran"
    contains 'the token does not reach the server'
    [ ! -e "$T/ran" ]
    # Without the look the tables refuse.
    expect 3 pooled lockfence pg run --no-check -- psql -v ON_ERROR_STOP=1 -qc \
        '\set VERBOSITY sqlstate' -f - <<<"INSERT INTO t VALUES (1, 'x');"
    contains LK004
    [ "$(rows)" = '' ]
}

@test "session pooling keeps nothing either" {
    bouncer_start 'pool_mode = session' 'server_reset_query = DISCARD ALL'
    pooled sql -c "SET holdfast.token = '6'" -c "SELECT 1" >/dev/null
    pooled expect_state LK004 -c "INSERT INTO t VALUES (1, 'x')"
    expect 0 pooled lockfence pg write -c "INSERT INTO t VALUES (1, 'a')"
}
