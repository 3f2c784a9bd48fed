#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# 64 writers with mixed tokens at once, the server's processes killed under
# them: what the table's own history says. HF_FENCE_SECONDS=60 for the full
# minute at each level; a few seconds otherwise.

load lib
load pg

setup_file() { pg_start; }
teardown_file() { pg_stop; }

setup() {
    T=$(mktemp -d)
    pg_fresh
    sql -c 'CREATE TABLE register (n bigint, token bigint)' \
        -c 'INSERT INTO register VALUES (0, 0)' \
        -c 'CREATE TABLE history (n bigint, token bigint)'
}
teardown() {
    kill "${killer-}" 2>/dev/null || :
    rm -rf "$T"
}

# A server process of a client, every second and a half: the postmaster ends
# all others for it and starts again.
kill_backends() {
    while :; do
        sleep 1.5
        pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'
            AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1" 2>/dev/null) || continue
        [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :
    done
}

up() { sql -c 'SELECT 1' >/dev/null 2>&1; }

crowd() {
    local level=$1 accepted refused again lost strange
    kill_backends 3>&- &
    killer=$!
    "$HF_BUILD/tests/fence/pg_writers" "${HF_FENCE_SECONDS:-6}" 64 "$level" >"$T/out" 2>"$T/err"
    kill $killer
    wait_for up
    cat "$T/out"
    IFS=' ,' read -r _ accepted _ refused _ again _ lost _ strange <"$T/out"
    [ "$strange" = 0 ] || { sort "$T/err" | uniq -c; return 1; }
    # It was a crowd: each kind of answer was had.
    [ "$accepted" -gt 50 ]
    [ "$refused" -gt 5 ]
    [ "$lost" -gt 0 ]
    # Accepted tokens never go down.
    [ "$(sql -c 'SELECT count(*) FROM (SELECT token, lag(token) OVER (ORDER BY n) AS before
        FROM history) h WHERE token < before')" = 0 ]
    # Nothing half-written: as many rows as the register counted, each number
    # once, and the mark is the last one's.
    [ "$(sql -c 'SELECT r.n = count(*) AND r.n = count(DISTINCT h.n) AND r.n = max(h.n)
        FROM register r, history h GROUP BY r.n')" = t ]
    [ "$(sql -c "SELECT m.token = r.token AND r.token = (SELECT token FROM history ORDER BY n DESC
        LIMIT 1) FROM holdfast.mark m, register r")" = t ]
    # All that was acknowledged is there, and no more than was in doubt beside it.
    [ "$(sql -c "SELECT count(*) BETWEEN $accepted AND $accepted + $lost FROM history")" = t ]
}

@test "64 writers and killed backends at READ COMMITTED: no accepted token goes down" {
    crowd 'READ COMMITTED'
}

@test "64 writers and killed backends at REPEATABLE READ: no accepted token goes down" {
    crowd 'REPEATABLE READ'
}

@test "64 writers and killed backends at SERIALIZABLE: no accepted token goes down" {
    crowd 'SERIALIZABLE'
}

# The judge is judged: a guard that looks and then writes, without a lock, lets
# stale writers pass, and the history shows it.
@test "P02: a guard that looks before it writes would be found out" {
    sql -c 'CREATE OR REPLACE FUNCTION holdfast.guard(key text, token text, grant_id text
            DEFAULT $$$$, strict boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
            BEGIN NULL; END $$' \
        -c 'CREATE OR REPLACE FUNCTION holdfast.guard(key text, token bigint, grant_id text
            DEFAULT $$$$, strict boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
            DECLARE seen bigint; BEGIN
            SELECT m.token INTO seen FROM holdfast.mark m;
            IF seen > token THEN RAISE $m$stale$m$ USING ERRCODE = $m$LK001$m$; END IF;
            INSERT INTO holdfast.mark AS m (key, token) VALUES (guard.key, guard.token)
                ON CONFLICT ON CONSTRAINT mark_pkey DO UPDATE SET token = excluded.token
                WHERE m.token < excluded.token;
            END $$'
    went_down() {
        "$HF_BUILD/tests/fence/pg_writers" 1 16 'READ COMMITTED' >"$T/out" 2>"$T/err"
        [ "$(sql -c 'SELECT count(*) > 0 FROM (SELECT token, lag(token) OVER (ORDER BY n)
            AS before FROM history) h WHERE token < before')" = t ]
    }
    wait_for went_down
}
