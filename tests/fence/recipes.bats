#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The recipes of docs/fencing.md, run as they stand there, each with every
# token at the edges and by the rule of every fence.

load lib
load pg

setup() {
    T=$(mktemp -d)
    chmod 755 "$T"
    cd "$T"
}
teardown() {
    [ -z "${server-}" ] || kill "$server" 2>/dev/null || :
    [ -z "${server-}" ] || wait "$server" 2>/dev/null || :
    pg_stop
    cd /
    rm -rf "$T"
}

# snippet NAME: the block below <!-- snippet: NAME -->.
snippet() {
    awk -v name="$1" '
        $0 == "<!-- snippet: " name " -->" { found = 1; next }
        found && /^```/ { if (inside) exit; inside = 1; next }
        inside' "$HF_SRC/docs/fencing.md" >"$T/snippet"
    [ -s "$T/snippet" ]
}

# Each recipe defines: offer TOKEN GRANT (prints accept or why not), forget (no
# mark), write_mark TOKEN GRANT.
recipe_token() {
    forget
    [ "$2" != '' ] || return 0 # each says so in its own way
    case $1:$(offer "$2" a) in
    accept:accept) ;;
    refuse:*token*) ;;
    *) echo "$2: $(offer "$2" a)"; return 1 ;;
    esac
}

recipe_rule() {
    local said
    # Recipes know one key and are not strict.
    [[ $9 != strict && ${10} != other-key ]] || return 0
    forget
    [ "$3" = - ] || [ "$(offer "$3" "${4#-}")" = accept ]
    said=$(offer "$6" "${7#-}")
    case ${10}:$said in
    first:accept | raised:accept | same:accept | stale:*stale* | other-grant:*) ;;
    *) echo "$said"; return 1 ;;
    esac
    [ "${10}" != other-grant ] || [ "$said" != accept ]
}

held_to_the_tables() {
    each_row tokens.tsv recipe_token
    each_row rules.tsv recipe_rule
}

@test "Redis" {
    command -v redis-server >/dev/null || skip 'no Redis here'
    snippet redis-set
    redis-server --port 0 --unixsocket "$T/socket" --save '' --daemonize no >"$T/log" 3>&- &
    server=$!
    cli() { redis-cli -s "$T/socket" "$@"; }
    ready() { [ "$(cli PING 2>/dev/null)" = PONG ]; }
    wait_for ready
    offer() {
        local said
        said=$(cli --eval snippet data mark:data , "$1" "$2" "value of $1" 2>&1)
        [ "$said" = OK ] && echo accept || echo "$said"
    }
    forget() { cli FLUSHALL >/dev/null; }
    held_to_the_tables
    forget
    [ "$(offer 10 a)" = accept ]
    [ "$(offer 9 a)" != accept ]
    [ "$(cli GET data)" = 'value of 10' ]
}

@test "MariaDB" {
    command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null ||
        skip 'no MariaDB here'
    # It does not like to be root either.
    as=()
    if [ "$(id -u)" = 0 ]; then
        chown nobody "$T"
        as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
    fi
    "${as[@]}" mariadb-install-db --no-defaults --datadir="$T/data" --auth-root-authentication-method=normal \
        --skip-test-db >"$T/install" 2>&1 3>&-
    "${as[@]}" mariadbd --no-defaults --datadir="$T/data" --socket="$T/socket" --skip-networking \
        --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=16M >"$T/log" 2>&1 3>&- &
    server=$!
    my() { mariadb --no-defaults --socket="$T/socket" -u root -N -B "$@"; }
    ready() { my -e 'SELECT 1' >/dev/null 2>&1; }
    wait_for ready
    my -e 'CREATE DATABASE t'
    snippet mariadb-guard
    my t <snippet
    my t -e 'CREATE TABLE stock (id int PRIMARY KEY, n int); INSERT INTO stock VALUES (7, 1000)'
    snippet mariadb-write
    offer() {
        local said
        said=$({ printf "SET @token = '%s', @grant_id = '%s';\n" "$1" "$2"; cat snippet; } |
            my t 2>&1) && echo accept || echo "${said#*: }"
    }
    forget() { my t -e 'DELETE FROM fence'; }
    held_to_the_tables
    # Taken down once for each that was accepted, and a refused one changes nothing.
    forget
    my t -e 'UPDATE stock SET n = 10'
    [ "$(offer 10 a)" = accept ]
    [[ $(offer 9 a) == *stale* ]]
    [ "$(my t -e 'SELECT n FROM stock')" = 9 ]
    # Overtaken between its first read and its write, at each level.
    for level in 'READ UNCOMMITTED' 'READ COMMITTED' 'REPEATABLE READ' SERIALIZABLE; do
        forget
        [ "$(offer 20 old)" = accept ]
        mkfifo old
        my t -n <old >"$T/old.out" 2>&1 3>&- &
        old=$!
        exec 9>old
        echo "SET SESSION TRANSACTION ISOLATION LEVEL $level; START TRANSACTION;
            SELECT token FROM fence LOCK IN SHARE MODE; COMMIT; START TRANSACTION;
            SELECT count(*) FROM information_schema.tables WHERE table_schema = 't';" >&9
        wait_for grep -q '^2$' "$T/old.out"
        [ "$(offer 21 new)" = accept ]
        before=$(my t -e 'SELECT n FROM stock')
        # In one line: behind the first that fails nobody reads any more.
        echo "CALL fence_guard('shop/prod/nightly', '20', 'old'); UPDATE stock SET n = -1; COMMIT;" >&9
        exec 9>&-
        ! wait $old || false
        grep -q 'stale token' "$T/old.out"
        [ "$(my t -e 'SELECT n FROM stock')" = "$before" ]
        rm old
    done
}

@test "a REST service" {
    command -v python3 >/dev/null || skip 'no Python here'
    snippet rest
    port=$((10000 + RANDOM % 2000)) # no connection is given one of these
    { cat snippet; echo "serve($port)"; } >service.py
    python3 service.py >"$T/log" 2>&1 3>&- &
    server=$!
    cat >put.py <<'P'
import sys, urllib.request, urllib.error
port, token, grant, body = sys.argv[1:]
request = urllib.request.Request("http://127.0.0.1:%s/doc" % port, body.encode(), method="PUT")
if token:
    request.add_header("Lock-Token", token)
request.add_header("Lock-Grant", grant)
try:
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
    print("accept")
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
P
    up() { python3 put.py $port 1 '' x >/dev/null 2>&1; }
    wait_for up
    # A header's value has no blanks at its ends, and bytes that are no ASCII are
    # another matter: what the client sends is what the service sees.
    offer() {
        case $1 in *[![:print:]]* | ' '* | *' ') echo 'not a token that can be sent'; return ;; esac
        python3 put.py $port "$1" "$2" "value of $1"
    }
    forget() { python3 -c 'import sqlite3
with sqlite3.connect("documents.db") as db: db.execute("DELETE FROM doc")'; }
    each_row rules.tsv recipe_rule
    LC_ALL=C each_row tokens.tsv recipe_token
    forget
    [ "$(offer 10 a)" = accept ]
    [ "$(offer 9 a)" = '412 stale token' ]
    [ "$(offer '' a)" = '428 Lock-Token is missing' ]
    [ "$(python3 -c 'import sqlite3
print(sqlite3.connect("documents.db").execute("SELECT body FROM doc").fetchone()[0].decode())')" = \
        'value of 10' ]
}

@test "a guarded UPDATE in PostgreSQL" {
    pg_bin >/dev/null || skip 'no PostgreSQL server here'
    pg_start
    sql -c 'CREATE TABLE job (id int PRIMARY KEY, v text)' -c "INSERT INTO job VALUES (1, 'old')"
    snippet postgresql-column
    sql -f snippet
    offer() {
        local said
        said=$(sql -c "PREPARE fenced (bigint, text, text, int) AS $(sed -n '/^UPDATE/,$p' snippet)" \
            -c '\unset QUIET' -c "EXECUTE fenced ($1, '$2', 'value of $1', 1)" 2>&1) || :
        [[ $said == *'UPDATE 1'* ]] && echo accept || echo "stale: $said"
    }
    forget() { sql -c "UPDATE job SET fence = 0, fence_grant = '', v = 'old'"; }
    each_row rules.tsv recipe_rule
    forget
    [ "$(offer 10 a)" = accept ]
    [ "$(offer 9 a)" != accept ]
    [ "$(sql -c 'SELECT v FROM job')" = 'value of 10' ]
}
