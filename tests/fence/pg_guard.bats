#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The guard in PostgreSQL: the rule, at every level, on every way into a table.

load lib
load pg

setup_file() { pg_start; }
teardown_file() { pg_stop; }

setup() {
    T=$(mktemp -d)
    pg_fresh
    sql -c 'CREATE TABLE t (id int PRIMARY KEY, v text)'
}
teardown() {
    rm -rf "$T"
}

# guard TOKEN GRANT: as SQL that begins a transaction.
guard() { printf "SELECT holdfast.guard('t/n/k', '%s', '%s');" "$1" "$2"; }
token() { sql -c "SELECT token FROM holdfast.mark WHERE key = 't/n/k'"; }

# With the token in the connection, as lockfence pg run sends it.
with_token() {
    local token=$1 grant=$2
    shift 2
    PGOPTIONS="-c holdfast.token=$token -c holdfast.grant_id=$grant" "$@"
}

# ---- the rule ----------------------------------------------------------------------

token_row() {
    local verdict=$1 token=$2 quoted
    sql -c 'ALTER TABLE holdfast.mark DISABLE TRIGGER USER' \
        -c 'TRUNCATE holdfast.mark' -c 'ALTER TABLE holdfast.mark ENABLE TRIGGER USER'
    quoted=${token//\'/\'\'}
    if [ "$verdict" = accept ]; then
        expect_state 00000 -c "SELECT holdfast.guard('t/n/k', '$quoted')"
        expect_state 00000 -c "SELECT holdfast.guard('t/n/k', $token)"
        [ "$(token)" = "$token" ]
        expect 0 lockfence pg write -c 'SELECT 1' -k t/n/k -t "$token"
    else
        expect_state LK005 -c "SELECT holdfast.guard('t/n/k', '$quoted')"
        expect 64 lockfence pg write -c 'SELECT 1' -k t/n/k --token="$token"
    fi
    # In PGOPTIONS a blank would need a backslash, which no writer of ours adds.
    case $token in *' '*) return ;; '') state=LK004 ;; *) state=LK005 ;; esac
    [ "$verdict" = refuse ] || state=00000
    with_token "$token" '' expect_state "$state" -c "INSERT INTO t VALUES (1, 'x')
        ON CONFLICT (id) DO UPDATE SET v = 'y'"
}

@test "tokens at the edges are accepted or refused as in every fence" {
    sql -c "SELECT holdfast.attach('t', 't/n/k')"
    each_row tokens.tsv token_row
}

rule_row() {
    local state
    # In the database the key is what a mark is found by.
    [ "$3" = - ] || [ "$5" != - ] || return 0
    [ "$8" != - ] || return 0
    sql -c 'ALTER TABLE holdfast.mark DISABLE TRIGGER USER' \
        -c 'TRUNCATE holdfast.mark' -c 'ALTER TABLE holdfast.mark ENABLE TRIGGER USER' \
        -c "SELECT holdfast.attach('t', 't/n/k', strict => $([ "$9" = strict ] &&
            echo true || echo false))"
    [ "$3" = - ] || sql -c "SELECT holdfast.guard('t/n/k', '$3', '${4#-}')"
    case ${10} in
    first | raised | same) state=00000 ;;
    stale) state=LK001 ;;
    other-grant) state=LK002 ;;
    repeated) state=LK003 ;;
    other-key) state=LK006 ;;
    esac
    PGOPTIONS="-c holdfast.token=$6 -c holdfast.grant_id=${7#-} -c holdfast.key=$8" \
        expect_state $state -c "INSERT INTO t VALUES (1, 'x')
        ON CONFLICT (id) DO UPDATE SET v = 'y'"
    [ "$state" = 00000 ] || [ "$3" = - ] || [ "$(token)" = "$3" ]
    [ "$state" != 00000 ] || [ "$(token)" = "$6" ]
}

@test "marks and claims are judged by the rule of every fence" {
    each_row rules.tsv rule_row
}

@test "a strict guard takes one transaction of each grant, with all its statements" {
    sql -c "SELECT holdfast.attach('t', 't/n/k', strict => true)"
    with_token 5 a sql -c "BEGIN; INSERT INTO t VALUES (1, 'x');
        UPDATE t SET v = 'y'; DELETE FROM t; COMMIT"
    with_token 5 a expect_state LK003 -c "INSERT INTO t VALUES (2, 'x')"
    with_token 6 a sql -c "INSERT INTO t VALUES (2, 'x')"
    # A transaction that was rolled back was none.
    with_token 7 a sql -c "BEGIN; DELETE FROM t; ROLLBACK"
    with_token 7 a sql -c "DELETE FROM t"
    # What guard was told in the transaction is no way around.
    expect_state LK003 -c "BEGIN" -c "$(guard 7 a)" -c "INSERT INTO t VALUES (3, 'x')"
    expect_state 00000 -c "BEGIN" -c "$(guard 8 a)" -c "INSERT INTO t VALUES (3, 'x')" \
        -c 'COMMIT'
}

@test "numbers above 2^53 are compared as numbers" {
    sql -c "$(guard 9007199254740993 a)"
    expect_state LK001 -c "$(guard 9007199254740992 a)"
    [ "$(token)" = 9007199254740993 ]
}

@test "a mark that is refused, or rolled back, stays as it was" {
    sql -c "$(guard 5 a)"
    sql -c 'BEGIN' -c "$(guard 9 b)" -c 'ROLLBACK'
    [ "$(token)" = 5 ]
    sql -c "$(guard 6 c)"
    expect_state LK001 -c 'BEGIN' -c "INSERT INTO t VALUES (1, 'x')" -c "$(guard 5 a)" \
        -c 'COMMIT'
    [ "$(sql -c 'SELECT count(*) FROM t')" = 0 ]
}

@test "a raised mark is durable even where commits are not" {
    run sql -c 'SET synchronous_commit = off' -c 'BEGIN' -c "$(guard 5 a)" \
        -c 'SHOW synchronous_commit' -c 'COMMIT' -c 'BEGIN' -c "$(guard 5 a)" \
        -c 'SHOW synchronous_commit' -c 'COMMIT'
    [ "$(paste -sd, <<<"$output")" = ,on,,off ]
}

# ---- isolation ---------------------------------------------------------------------

each_level() {
    local level
    for level in 'READ COMMITTED' 'REPEATABLE READ' SERIALIZABLE; do
        "$@" "$level" || { echo "at $level"; return 1; }
    done
}

# P02: a newer holder writes between the look and the write of an older one.
overtaken() {
    local level=$1 name=${1// /}
    session "A$name"
    ask "A$name" "BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM t;"
    [ "$heard" = 0 ]
    with_token 60 new sql -c "INSERT INTO t VALUES (1, 'new')"
    ask "A$name" "SELECT holdfast.guard('t/n/k', 50, 'old');"
    case $level in
    'READ COMMITTED') [ "$heard" = 'ERROR:  LK001' ] ;;
    # Its snapshot is from before: the server says run it again, and then it
    # is refused.
    *) [ "$heard" = 'ERROR:  LK001' ] || [ "$heard" = 'ERROR:  40001' ] ;;
    esac
    ask "A$name" "INSERT INTO t VALUES (2, 'old'); COMMIT;"
    expect_state LK001 -c "BEGIN ISOLATION LEVEL $level" -c "$(guard 50 old)"
    [ "$(sql -c 'SELECT v FROM t')" = new ]
    sql -c "ALTER TABLE holdfast.mark DISABLE TRIGGER USER" -c 'TRUNCATE t' \
        -c 'TRUNCATE holdfast.mark' -c 'ALTER TABLE holdfast.mark ENABLE TRIGGER USER' \
        -c "$(guard 50 old)"
}

@test "P02: who was overtaken since it looked is refused, at all three levels" {
    sql -c "$(guard 50 old)"
    each_level overtaken
}

# A newer holder waits for the writes that an older one has begun.
waits() {
    local level=$1 name=${1// /}
    session "A$name"
    session "B$name"
    session "C$name"
    ask "A$name" "BEGIN ISOLATION LEVEL $level; $(guard 5 a) INSERT INTO t VALUES (1, 'a');"
    say "B$name" "BEGIN ISOLATION LEVEL $level; $(guard 6 b)"
    blocked
    # Whoever comes behind it waits too, the older one's fellows among them.
    say "C$name" "BEGIN ISOLATION LEVEL $level; $(guard 5 a)"
    ask "A$name" "$(guard 5 a) INSERT INTO t VALUES (2, 'a'); COMMIT;"
    hear "B$name"
    [[ $heard != *ERROR* ]]
    ask "B$name" "INSERT INTO t VALUES (3, 'b'); COMMIT;"
    hear "C$name"
    [[ $heard =~ ERROR:\ \ (LK001|40001) ]]
    say "C$name" 'ROLLBACK;'
    [ "$(sql -c "SELECT string_agg(v, '' ORDER BY id) FROM t")" = aab ]
    sql -c "ALTER TABLE holdfast.mark DISABLE TRIGGER USER" -c 'TRUNCATE t' \
        -c 'TRUNCATE holdfast.mark' -c 'ALTER TABLE holdfast.mark ENABLE TRIGGER USER'
}

@test "a newer holder waits for begun writes, and the next of the old ones for it" {
    each_level waits
}

together() {
    local level=$1 name=${1// /}
    session "A$name"
    session "B$name"
    sql -c "$(guard 5 a)"
    ask "A$name" "BEGIN ISOLATION LEVEL $level; $(guard 5 a) INSERT INTO t VALUES (1, 'a');"
    ask "B$name" "BEGIN ISOLATION LEVEL $level; $(guard 5 a) INSERT INTO t VALUES (2, 'b');"
    [[ $heard != *ERROR* ]]
    ask "B$name" 'COMMIT;'
    ask "A$name" 'COMMIT;'
    [[ $heard != *ERROR* ]]
    [ "$(sql -c 'SELECT count(*) FROM t')" = 2 ]
    sql -c 'TRUNCATE t'
}

@test "connections of one grant write side by side" {
    each_level together
}

@test "a crowd of stale writers does not keep a new holder out" {
    sql -c "$(guard 5 a)" -c "SELECT holdfast.attach('t', 't/n/k')"
    # Each transaction is held open for a while, so that there is always one.
    printf '%s\n' 'BEGIN;' "SELECT holdfast.guard('t/n/k', 5, 'a');" \
        'SELECT pg_sleep(0.02);' 'COMMIT;' >"$T/crowd.sql"
    "$PG_BIN/pgbench" -n -c 8 -T 60 -f "$T/crowd.sql" >"$T/crowd.out" 2>&1 3>&- &
    crowd=$!
    crowded() { [ "$(sql -c "SELECT count(*) FROM pg_stat_activity
        WHERE wait_event = 'PgSleep'")" -ge 4 ]; }
    wait_for crowded
    expect 0 timeout 20 lockfence pg write -k t/n/k -t 6 -c "INSERT INTO t VALUES (1, 'b')"
    # All of the crowd are refused from here on.
    wait_for_end $crowd
    grep -q 'token 5 is stale' "$T/crowd.out"
}

@test "two keys in one transaction: a deadlock is told, and nothing is let pass" {
    sql -c "SELECT holdfast.guard('t/n/a', 1); SELECT holdfast.guard('t/n/b', 1)"
    session A
    session B
    ask A "BEGIN; SELECT holdfast.guard('t/n/a', 2);"
    ask B "BEGIN; SELECT holdfast.guard('t/n/b', 2);"
    say A "SELECT holdfast.guard('t/n/b', 3); COMMIT;"
    blocked
    say B "SELECT holdfast.guard('t/n/a', 3); COMMIT;"
    hear A
    first=$heard
    hear B
    [[ "$first $heard" == *40P01* ]]
    [ "$(sql -c "SELECT sum(token) FROM holdfast.mark")" = 5 ]
}

# ---- every way into a table ----------------------------------------------------------

# Each is one command for psql; run with a stale token, then with the current one.
ways() {
    cat <<'S'
INSERT INTO t VALUES (10, 'x')
UPDATE t SET v = 'x'
UPDATE t SET v = 'x' WHERE false
DELETE FROM t WHERE id = 1
TRUNCATE t
INSERT INTO t VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET v = 'y'
INSERT INTO t VALUES (1, 'x') ON CONFLICT DO NOTHING
MERGE INTO t USING (VALUES (1)) s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'm'
WITH w AS (UPDATE t SET v = 'w' RETURNING id) SELECT count(*) FROM w
COPY t (id, v) FROM PROGRAM 'echo 20,x' (FORMAT csv)
BEGIN; CREATE TEMP TABLE s AS SELECT 30 AS id; INSERT INTO t SELECT id, 's' FROM s; COMMIT
PREPARE p AS UPDATE t SET v = $1; EXECUTE p('p')
UPDATE v SET v = 'view'
SET session_replication_role = replica; UPDATE t SET v = 'replica'
DO $$ BEGIN UPDATE t SET v = 'do'; END $$
DELETE FROM up WHERE id = 1
S
}

@test "no way into a guarded table passes by the guard" {
    local way
    sql -c 'CREATE VIEW v AS SELECT * FROM t' -c 'CREATE TABLE up (id int PRIMARY KEY)' \
        -c 'INSERT INTO up VALUES (1)' -c "INSERT INTO t VALUES (1, 'old'), (2, 'old')" \
        -c 'ALTER TABLE t ADD up int REFERENCES up ON DELETE CASCADE' \
        -c 'UPDATE t SET up = 1 WHERE id = 1' -c "$(guard 6 new)" \
        -c "SELECT holdfast.attach('t', 't/n/k')"
    before=$(sql -c 'SELECT * FROM t ORDER BY id')
    while read -r way; do
        with_token 5 old expect_state LK001 -c "$way"
        expect_state LK004 -c "$way"
    done < <(ways)
    [ "$before" = "$(sql -c 'SELECT * FROM t ORDER BY id')" ]
    while read -r way; do
        with_token 6 new expect_state 00000 -c "$way"
    done < <(ways)
    expect 0 lockfence pg check t
}

@test "psql's own copy, and a prepared statement that outlives its transaction" {
    sql -c "$(guard 6 new)" -c "SELECT holdfast.attach('t', 't/n/k')"
    printf '1,a\n2,b\n' >"$T/rows.csv"
    with_token 5 old expect_state LK001 -c "\\copy t FROM '$T/rows.csv' CSV"
    with_token 6 new expect_state 00000 -c "\\copy t FROM '$T/rows.csv' CSV"
    [ "$(sql -c 'SELECT count(*) FROM t')" = 2 ]
    export PGOPTIONS='-c holdfast.token=6 -c holdfast.grant_id=new'
    session A
    unset PGOPTIONS
    ask A "PREPARE p AS UPDATE t SET v = \$1; EXECUTE p('p');"
    [ "$heard" = '' ]
    sql -c "$(guard 7 newer)"
    ask A "EXECUTE p('q');"
    [ "$heard" = 'ERROR:  LK001' ]
    [ "$(sql -c "SELECT DISTINCT v FROM t")" = p ]
}

@test "a savepoint that is rolled back takes the guard's word with it" {
    sql -c "SELECT holdfast.attach('t', 't/n/k')" -c "$(guard 5 a)"
    session A
    ask A "BEGIN; SAVEPOINT s; $(guard 5 a) INSERT INTO t VALUES (1, 'a'); ROLLBACK TO s;"
    # The lock is gone, so a newer holder need not wait,
    sql -c "$(guard 6 b)"
    # and what follows is judged anew.
    ask A "INSERT INTO t VALUES (2, 'a');"
    [ "$heard" = 'ERROR:  LK004' ]
    ask A "ROLLBACK TO s; $(guard 5 a)"
    [ "$heard" = 'ERROR:  LK001' ]
}

@test "a token that was SET in the session is not believed" {
    sql -c "SELECT holdfast.attach('t', 't/n/k')"
    for set in SET 'SET LOCAL' 'SET SESSION'; do
        expect_state LK007 -c "BEGIN; $set holdfast.token = '7'; INSERT INTO t VALUES (1, 'x')"
    done
    # Nor in place of the one that the connection has.
    with_token 7 a expect_state LK007 \
        -c "BEGIN; SET LOCAL holdfast.token = '9'; INSERT INTO t VALUES (1, 'x')"
    with_token 7 a expect_state 00000 -c "BEGIN; SET LOCAL holdfast.token = '9'; COMMIT" \
        -c "INSERT INTO t VALUES (1, 'x')"
    [ "$(token)" = 7 ]
}

@test "an SQL job guards itself in its own transaction" {
    sql -c "SELECT holdfast.attach('t', 't/n/k')"
    expect_state 00000 -c 'BEGIN' -c "$(guard 7 a)" -c "INSERT INTO t VALUES (1, 'x')" \
        -c "UPDATE t SET v = 'y'" -c 'COMMIT'
    # The word ends with the transaction.
    expect_state LK004 -c 'BEGIN' -c "$(guard 7 a)" -c 'COMMIT' -c "INSERT INTO t VALUES (2, 'x')"
    # A guard for another key is none for this table.
    expect_state LK004 -c 'BEGIN' -c "SELECT holdfast.guard('t/n/other', 7)" \
        -c "INSERT INTO t VALUES (2, 'x')"
}

# ---- partitions -----------------------------------------------------------------------

@test "partitions are guarded, those that come later too" {
    sql -c 'CREATE TABLE p (id int, v text) PARTITION BY RANGE (id)' \
        -c 'CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)' \
        -c 'CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) PARTITION BY LIST (id)' \
        -c 'CREATE TABLE p2a PARTITION OF p2 FOR VALUES IN (10)' \
        -c "SELECT holdfast.attach('p', 't/n/k')" -c "$(guard 6 new)" \
        -c 'CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (20) TO (30)'
    for way in 'INSERT INTO p VALUES (1)' 'INSERT INTO p1 VALUES (1)' \
        'INSERT INTO p2a VALUES (10)' 'INSERT INTO p2 VALUES (10)' 'TRUNCATE p1' 'TRUNCATE p' \
        'INSERT INTO p3 VALUES (20)' 'INSERT INTO p VALUES (25)' 'UPDATE p SET v = 1' \
        "COPY p3 FROM PROGRAM 'echo 21,x' (FORMAT csv)" \
        'SET session_replication_role = replica; INSERT INTO p3 VALUES (22)'; do
        with_token 5 old expect_state LK001 -c "$way"
        expect_state LK004 -c "$way"
        with_token 6 new expect_state 00000 -c "BEGIN; $way; ROLLBACK"
    done
    with_token 6 new sql -c 'INSERT INTO p VALUES (1), (10), (20)'
    with_token 5 old expect_state LK001 -c 'DELETE FROM p3'
    with_token 5 old expect_state LK001 -c "UPDATE p SET id = 2 WHERE id = 20"
    with_token 6 new expect_state 00000 -c "UPDATE p SET id = 2 WHERE id = 20"
    # A hole that no trigger can close for a partition that is not there yet.
    expect 84 lockfence pg check
    contains 'p3: TRUNCATE of this part of p is not guarded'
    lockfence pg init -k t/n/k p
    expect 0 lockfence pg check p
    with_token 5 old expect_state LK001 -c 'TRUNCATE p3'
}

@test "children of old-style inheritance are guarded with their parent" {
    sql -c 'CREATE TABLE c () INHERITS (t)' -c "SELECT holdfast.attach('t', 't/n/k')" \
        -c "$(guard 6 new)"
    with_token 5 old expect_state LK001 -c "INSERT INTO c VALUES (1, 'x')"
    with_token 6 new expect_state 00000 -c "INSERT INTO c VALUES (1, 'x')"
    with_token 5 old expect_state LK001 -c "UPDATE t SET v = 'y'"
}

@test "two tables under one key are one job's" {
    sql -c 'CREATE TABLE u (id int)' -c "SELECT holdfast.attach('t', 't/n/k')" \
        -c "SELECT holdfast.attach('u', 't/n/k')"
    with_token 6 a sql -c "BEGIN; INSERT INTO t VALUES (1, 'x'); INSERT INTO u VALUES (1); COMMIT"
    with_token 5 b expect_state LK001 -c "BEGIN; INSERT INTO u VALUES (2); COMMIT"
    [ "$(sql -c 'SELECT count(*) FROM u')" = 1 ]
}

# ---- rights ---------------------------------------------------------------------------

@test "a writer cannot lower the mark, nor reach it by another way" {
    sql -d postgres -c "DO \$\$ BEGIN
        CREATE ROLE writer LOGIN; EXCEPTION WHEN duplicate_object THEN END \$\$"
    sql -c 'GRANT INSERT, UPDATE, SELECT, DELETE, TRUNCATE ON t TO writer' \
        -c 'GRANT CREATE ON DATABASE t TO writer' \
        -c "SELECT holdfast.attach('t', 't/n/k')" -c "$(guard 6 new)"
    export PGUSER=writer
    # Who only writes guarded tables needs no right,
    with_token 6 new expect_state 00000 -c "INSERT INTO t VALUES (1, 'x')"
    with_token 5 old expect_state LK001 -c "INSERT INTO t VALUES (2, 'x')"
    # and has none.
    for way in "UPDATE holdfast.mark SET token = 1" 'DELETE FROM holdfast.mark' \
        'TRUNCATE holdfast.mark' "INSERT INTO holdfast.mark VALUES ('t/n/x', 1)" \
        "SELECT holdfast.bump('t/n/k', 9)" "$(guard 9 x)" 'SELECT * FROM holdfast.mark' \
        'CREATE TABLE holdfast.x ()' 'DROP TRIGGER _holdfast_guard ON t' \
        'ALTER TABLE t DISABLE TRIGGER ALL' 'DROP FUNCTION holdfast.guard_table' \
        "SELECT holdfast.pass('t/n/k', 99, 'g', false)" "SELECT holdfast.attach('t', 't/n/x')" \
        'SET session_replication_role = replica'; do
        expect_state 42501 -c "$way"
    done
    PGUSER=postgres lockfence pg init --writer writer
    expect_state 00000 -c "$(guard 7 newer)"
    expect_state LK001 -c "$(guard 6 new)"
    expect_state 00000 -c 'SELECT * FROM holdfast.mark'
    expect_state 42501 -c "UPDATE holdfast.mark SET token = 1"
    # Names of the writer's own are not what the guard looks at.
    sql -c 'CREATE SCHEMA evil' \
        -c 'CREATE FUNCTION evil.yes(bigint, bigint) RETURNS bool LANGUAGE sql AS $$ SELECT false $$' \
        -c 'CREATE OPERATOR evil.> (FUNCTION = evil.yes, LEFTARG = bigint, RIGHTARG = bigint)' \
        -c 'CREATE TEMP TABLE mark (key text, token bigint, grant_id text)'
    export PGOPTIONS='-c search_path=evil,pg_catalog'
    expect_state LK001 -c "CREATE TEMP TABLE mark (key text, token bigint)" -c "$(guard 6 new)"
    PGOPTIONS="$PGOPTIONS -c holdfast.token=6 -c holdfast.grant_id=new" \
        expect_state LK001 -c "INSERT INTO public.t VALUES (2, 'x')"
}

@test "P03: not even the owner lowers a mark without knowing; bump raises it" {
    sql -c "$(guard 50 a)"
    expect_state LK008 -c "UPDATE holdfast.mark SET token = 4"
    expect_state LK008 -c "UPDATE holdfast.mark SET key = 'x'"
    expect_state LK008 -c "DELETE FROM holdfast.mark"
    expect_state LK008 -c "TRUNCATE holdfast.mark"
    expect 0 lockfence pg bump t/n/k --below 70
    [ "$output" = 'mark of t/n/k: 50 -> 69' ]
    expect_state LK001 -c "$(guard 68 a)"
    expect_state LK002 -c "$(guard 69 a)"
    expect 0 lockfence pg bump t/n/k --below 60
    [ "$output" = 'mark of t/n/k: 69, as before' ]
    [ "$(token)" = 69 ]
    expect_state 00000 -c "$(guard 70 b)"
    # A key that never wrote can be bumped too, and its own token is not spared.
    expect 0 lockfence pg bump t/n/new --below 9
    [ "$output" = 'mark of t/n/new: none -> 8' ]
    expect_state LK001 -c "SELECT holdfast.guard('t/n/new', 7, 'x')"
    sql -c "SELECT holdfast.guard('t/n/two', 8, 'bump')"
    expect 0 lockfence pg bump t/n/two --below 9
    expect_state LK002 -c "SELECT holdfast.guard('t/n/two', 8, 'y')"
}

@test "a restored table is told apart by its mark, and bump closes the gap" {
    sql -c "SELECT holdfast.attach('t', 't/n/k')"
    with_token 5 a sql -c "INSERT INTO t VALUES (1, 'five')"
    "$PG_BIN/pg_dump" >"$T/dump.sql"
    with_token 7 b sql -c "INSERT INTO t VALUES (2, 'seven')"
    sql -d postgres -c 'DROP DATABASE t WITH (FORCE)' -c 'CREATE DATABASE t'
    sql -f "$T/dump.sql" >/dev/null
    # The dump brings guard, marks and triggers back, as old as they were.
    [ "$(token)" = 5 ]
    expect 0 lockfence pg check t
    with_token 6 x expect_state 00000 -c "BEGIN; INSERT INTO t VALUES (3, 'x'); ROLLBACK"
    expect 0 lockfence pg bump t/n/k --below 8
    with_token 6 x expect_state LK001 -c "INSERT INTO t VALUES (3, 'x')"
    with_token 8 c expect_state 00000 -c "INSERT INTO t VALUES (3, 'x')"
}

# ---- installing -------------------------------------------------------------------------

@test "the plan is plain SQL that psql runs, twice if need be; check sees holes" {
    sql -d postgres -c 'DROP DATABASE t WITH (FORCE)' -c 'CREATE DATABASE t'
    expect 84 lockfence pg check
    contains 'has no guard'
    sql -c 'CREATE TABLE t (id int)' -c "CREATE TABLE \"Odd 'name\" (id int)"
    lockfence pg plan -k t/n/k t '"Odd '\''name"' >"$T/plan.sql"
    grep -q 'CREATE OR REPLACE FUNCTION holdfast.guard' "$T/plan.sql"
    sql -f "$T/plan.sql" >/dev/null
    sql -f "$T/plan.sql" >/dev/null
    expect 0 lockfence pg check t
    contains 'guarded    t (key t/n/k)'
    expect 0 lockfence pg check '"Odd '\''name"'
    sql -c 'CREATE TABLE free (id int)'
    expect 0 lockfence pg check
    contains 'unguarded  free'
    expect 84 lockfence pg check free
    expect 65 lockfence pg check nosuch
    expect 0 lockfence pg check --json
    contains '"unguarded":["free"]'
    sql -c 'ALTER TABLE t ENABLE TRIGGER _holdfast_guard'
    expect 84 lockfence pg check
    contains 'not ENABLE ALWAYS'
    expect 0 lockfence pg init -k t/n/k t '"Odd '\''name"'
    [ "$output" = $'the guard is installed\nguarded under t/n/k: t\nguarded under t/n/k: "Odd \'name"' ]
    expect 0 lockfence pg init --writer postgres
    [ "$output" = $'the guard is installed\nmay call holdfast.guard: postgres' ]
    sql -c 'GRANT UPDATE ON holdfast.mark TO PUBLIC'
    expect 84 lockfence pg check
    contains 'may write marks'
    expect 64 lockfence pg init t
    contains '--key KEY is missing'
    expect 65 lockfence pg init -k t/n/k nosuch
    expect 64 lockfence pg init -k 'a b' t
}

@test "a trigger that another version made is named by check, and init mends it" {
    lockfence pg init --key t/n/k t
    [ -z "$(sql -c 'SELECT problem FROM holdfast.problem')" ]
    sql -c 'DROP TRIGGER _holdfast_guard ON t' -c "CREATE TRIGGER _holdfast_guard
        BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON t FOR EACH STATEMENT
        WHEN (NOT starts_with(coalesce(current_setting('holdfast.passed', true), ''),
            concat(pg_current_xact_id(), ' t/n/k ')))
        EXECUTE FUNCTION holdfast.guard_table('t/n/k', '')" \
        -c 'ALTER TABLE t ENABLE ALWAYS TRIGGER _holdfast_guard'
    run lockfence pg check
    [ "$status" != 0 ]
    [[ $output == *'trigger _holdfast_guard is of another version: attach the guard again'* ]]
    lockfence pg init --key t/n/k t
    [ -z "$(sql -c 'SELECT problem FROM holdfast.problem')" ]
}

@test "what lets everything pass for good is named by check" {
    lockfence pg init --key t/n/k t
    sql -c "ALTER DATABASE t SET holdfast.passed_key = 't/n/k'"
    sql -c 'BEGIN' -c "$(guard 5 x)" -c 'CREATE FUNCTION past() RETURNS void LANGUAGE sql
        SET holdfast.passed_key FROM CURRENT AS $$ INSERT INTO t VALUES (1) $$' -c COMMIT
    run sql -c 'SELECT problem FROM holdfast.problem ORDER BY 1'
    [ "${#lines[@]}" = 2 ]
    [ "${lines[0]}" = 'ALTER ROLE or DATABASE has holdfast.passed_key=t/n/k: no guard stands' ]
    [ "${lines[1]}" = 'function past() has holdfast.passed_key=t/n/k: no guard stands' ]
    run lockfence pg check
    [ "$status" != 0 ]
    [[ $output == *'no guard stands'* ]]
    sql -c 'ALTER DATABASE t RESET ALL' -c 'DROP FUNCTION past()'
    [ -z "$(sql -c 'SELECT problem FROM holdfast.problem')" ]
    expect_state LK004 -c "INSERT INTO t VALUES (2, 'x')"
}

@test "a guarded UPDATE without functions or triggers: the token in the row" {
    # The form in docs/fencing.md.
    sql -c "CREATE TABLE job (id int PRIMARY KEY, v text, fence bigint NOT NULL
        DEFAULT 1 CHECK (fence > 0), fence_grant text NOT NULL DEFAULT '')" \
        -c "INSERT INTO job VALUES (1, 'old', 5, 'a')"
    form() {
        sql -c "BEGIN ISOLATION LEVEL $3" -c "UPDATE job SET v = 'w', fence = $1, fence_grant = '$2'
            WHERE id = 1 AND (fence < $1 OR (fence = $1 AND fence_grant = '$2')) RETURNING 1" \
            -c COMMIT
    }
    once() {
        [ "$(form 6 b "$1")" = 1 ]
        [ "$(form 6 b "$1")" = 1 ]
        [ "$(form 5 a "$1")" = '' ]
        [ "$(form 6 c "$1")" = '' ]
        sql -c "UPDATE job SET fence = 5, fence_grant = 'a'"
    }
    each_level once
}
