# SPDX-License-Identifier: Apache-2.0
# A PostgreSQL server of the test file's own, on a socket in a folder of its
# own. `load pg` after `load lib`; pg_start in setup_file, pg_stop in
# teardown_file.

# The newest server here.
pg_bin() {
    local folder newest=
    for folder in /usr/lib/postgresql/*/bin /usr/local/pgsql/bin; do
        [ ! -x "$folder/postgres" ] || newest=$folder
    done
    [ -n "$newest" ] || { echo 'no PostgreSQL server here'; return 1; }
    printf '%s\n' "$newest"
}

# The server refuses to be root.
as_server() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
    else
        "$@"
    fi
}

# pg_start OPTION...: -c name=value, for postgres.
pg_start() {
    PG_BIN=$(pg_bin)
    PG_DIR=$(mktemp -d)
    export PG_BIN PG_DIR
    chmod 755 "$PG_DIR"
    [ "$(id -u)" != 0 ] || chown postgres "$PG_DIR"
    export PGHOST=$PG_DIR PGUSER=postgres PGDATABASE=postgres PGTZ=UTC
    unset PGPORT PGOPTIONS PGPASSWORD PGSERVICE PGSSLMODE PSQLRC
    as_server "$PG_BIN/initdb" -D "$PG_DIR/data" -A trust -U postgres \
        --no-sync >"$PG_DIR/initdb.log" 3>&-
    pg_up "$@"
}

pg_up() {
    as_server "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -l "$PG_DIR/log" -w -s \
        -o "-c listen_addresses= -c unix_socket_directories=$PG_DIR \
            -c max_connections=120 -c shared_buffers=32MB -c fsync=off $*" \
        start 3>&-
}

pg_stop() {
    [ -n "${PG_DIR-}" ] || return 0
    bouncer_stop
    as_server "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -m immediate -s stop || :
    rm -rf "$PG_DIR"
}

# SQL through psql, as it is; the last status is psql's.
sql() { psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }

# A fresh database with the guard in it, for one test.
pg_fresh() {
    sql -d postgres -c 'DROP DATABASE IF EXISTS t WITH (FORCE)' 2>/dev/null
    sql -d postgres -c 'CREATE DATABASE t'
    export PGDATABASE=t
    lockfence pg init "$@"
}

# SQLSTATE that SQL ends with, 00000 when it is done.
state_of() {
    local text
    text=$(psql -X -q -At -v VERBOSITY=sqlstate -v ON_ERROR_STOP=1 "$@" \
        2>&1 >/dev/null) && { echo 00000; return; }
    [[ $text =~ (ERROR|FATAL):\ +([0-9A-Z]{5}) ]] || { echo "$text"; return; }
    echo "${BASH_REMATCH[2]}"
}

# expect_state STATE ARGUMENT...: of psql.
expect_state() {
    local wanted=$1 found
    shift
    found=$(state_of "$@")
    [ "$found" = "$wanted" ] || {
        printf 'SQLSTATE %s instead of %s: %s\n' "$found" "$wanted" "$*"
        return 1
    }
}

# ---- sessions that are told what to do, line by line --------------------------------

# session NAME: a psql of its own; say NAME SQL sends, hear NAME SQL waits.
session() {
    local name=$1
    mkfifo "$T/$name.in"
    psql -X -q -At -v VERBOSITY=sqlstate <"$T/$name.in" \
        >"$T/$name.out" 2>&1 3>&- &
    eval "exec {${name}_in}>'$T/$name.in'"
}

say() {
    local fd=${1}_in
    printf '%s\n' "$2" >&"${!fd}"
}

# Until the session has done all that it was told; its new output is in $heard.
hear() {
    local name=$1 mark="done-$RANDOM$RANDOM"
    say "$name" "\\echo $mark"
    wait_for grep -q "^$mark\$" "$T/$name.out"
    heard=$(sed "/^$mark\$/d" "$T/$name.out")
    : >"$T/$name.out"
}

# ask NAME SQL: say and hear.
ask() {
    say "$1" "$2"
    hear "$1"
}

# Until a session waits for a lock of another one.
blocked() {
    wait_for blocked_now
}
blocked_now() {
    [ "$(sql -c "SELECT count(*) > 0 FROM pg_stat_activity
        WHERE wait_event_type = 'Lock'")" = t ]
}

# ---- a pooler ---------------------------------------------------------------------

# bouncer_start LINE...: lines of its configuration. One server connection, so
# that each client gets the one that the last had.
bouncer_start() {
    local line
    {
        echo '[databases]'
        echo "* = host=$PG_DIR"
        echo '[pgbouncer]'
        echo "unix_socket_dir = $PG_DIR/pool"
        echo 'listen_port = 6543'
        echo 'auth_type = trust'
        echo "auth_file = $PG_DIR/users"
        [[ "$*" == *pool_mode* ]] || echo 'pool_mode = transaction'
        echo 'default_pool_size = 1'
        echo "logfile = $PG_DIR/bouncer.log"
        echo "pidfile = $PG_DIR/bouncer.pid"
        for line in "$@"; do echo "$line"; done
    } >"$PG_DIR/bouncer.ini"
    echo '"postgres" ""' >"$PG_DIR/users"
    chmod 644 "$PG_DIR/bouncer.ini" "$PG_DIR/users"
    mkdir -p "$PG_DIR/pool"
    chmod 777 "$PG_DIR/pool"
    as_server env PATH="$PATH:/usr/sbin" pgbouncer -q -d "$PG_DIR/bouncer.ini" \
        3>&-
    wait_for test -S "$PG_DIR/pool/.s.PGSQL.6543"
}

bouncer_stop() {
    [ -e "$PG_DIR/bouncer.pid" ] || return 0
    local pid
    pid=$(cat "$PG_DIR/bouncer.pid")
    kill "$pid" 2>/dev/null || :
    wait_for_end "$pid"
}
wait_for_end() {
    local end=$((SECONDS + 30))
    while kill -0 "$1" 2>/dev/null && [ $SECONDS -lt $end ]; do sleep 0.05; done
}

# Through the pooler.
pooled() { PGHOST=$PG_DIR/pool PGPORT=6543 "$@"; }
