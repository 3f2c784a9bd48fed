-- SPDX-License-Identifier: Apache-2.0
-- The fence of Holdfast for PostgreSQL, version 1. No extension and no superuser
-- is needed: run it as the role that is to own the marks, which should not be
-- the role that writes. Running it again changes nothing, or brings an older
-- version up to this one; the marks stay, and tables that keep a guard of the
-- older one are in holdfast.problem. PostgreSQL 13 or later.
--
--     holdfast.mark       the highest token accepted, one row for each key
--     holdfast.guard()    call it first in a transaction: accepted, or an error
--     holdfast.look()     would it be? changes and locks nothing
--     holdfast.attach()   guards a table wholesale, by triggers
--     holdfast.detach()   takes them away again
--     holdfast.allow()    lets a role call holdfast.guard
--     holdfast.bump()     raises a mark by hand
--     holdfast.guarded    the tables with a guard
--     holdfast.problem    what is wrong with them
--
-- Errors, by SQLSTATE:
--     LK001  stale: a higher token was accepted
--     LK002  an equal token of another grant was accepted
--     LK003  an equal token, where each grant has one transaction (strict)
--     LK004  no token came with the connection or the transaction
--     LK005  not a token, not a key, or not the id of a grant
--     LK006  the token was granted for another key than the table's
--     LK007  holdfast.token was SET: a pooled connection would keep it
--     LK008  a mark may not be lowered or removed

CREATE SCHEMA IF NOT EXISTS holdfast;

-- ---- the marks -----------------------------------------------------------------

CREATE TABLE IF NOT EXISTS holdfast.mark (
    key         text        PRIMARY KEY,
    token       bigint      NOT NULL CHECK (token > 0),
    grant_id    text        NOT NULL DEFAULT '',
    accepted_at timestamptz NOT NULL DEFAULT now(),
    accepted_by text        NOT NULL DEFAULT session_user
);
COMMENT ON TABLE holdfast.mark IS
    'Highest token accepted for each key; holdfast.guard and .bump write it.';

-- A mark that goes down lets stale writers in, so even its owner is asked twice.
CREATE OR REPLACE FUNCTION holdfast.keep_mark()
RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $keep$
BEGIN
    RAISE 'holdfast: a mark may not be lowered or removed'
        USING ERRCODE = 'LK008',
            HINT = 'When no writer of the key is left: ALTER TABLE '
                'holdfast.mark DISABLE TRIGGER USER, and enable it again.';
END
$keep$;

DROP TRIGGER IF EXISTS keep_mark_up ON holdfast.mark;
CREATE TRIGGER keep_mark_up BEFORE UPDATE ON holdfast.mark
    FOR EACH ROW WHEN (NEW.token < OLD.token OR NEW.key <> OLD.key)
    EXECUTE FUNCTION holdfast.keep_mark();
DROP TRIGGER IF EXISTS keep_mark ON holdfast.mark;
CREATE TRIGGER keep_mark BEFORE DELETE OR TRUNCATE ON holdfast.mark
    FOR EACH STATEMENT EXECUTE FUNCTION holdfast.keep_mark();

-- ---- the rule ------------------------------------------------------------------

-- Keys as Holdfast has them, but for the number of their parts.
CREATE OR REPLACE FUNCTION holdfast.check_key(key text)
RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $check$
BEGIN
    IF key IS NULL OR length(key) > 512 OR key !~ '^[A-Za-z0-9._@:+=%/-]+$' THEN
        RAISE 'holdfast: "%" is not a key', left(key, 80)
            USING ERRCODE = 'LK005';
    END IF;
END
$check$;

-- Why not: the end of holdfast.guard for what is not accepted.
CREATE OR REPLACE FUNCTION holdfast.refuse(k text, t bigint, g text)
RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $refuse$
DECLARE
    m record;
BEGIN
    SELECT * INTO m FROM holdfast.mark WHERE mark.key = k;
    IF m.token > t THEN
        RAISE 'holdfast: token % is stale: key % has been written with token %',
            t, k, m.token
            USING ERRCODE = 'LK001',
                DETAIL = format('Accepted at %s from %s. Nothing of this '
                    'transaction is kept.', m.accepted_at, m.accepted_by),
                HINT = 'The lock went to a newer holder: end this job.';
    ELSIF m.token = t AND m.grant_id <> g THEN
        RAISE 'holdfast: token % of key % was accepted from grant "%" and now '
            'comes from grant "%"', t, k, m.grant_id, g
            USING ERRCODE = 'LK002';
    ELSIF m.token = t THEN
        RAISE 'holdfast: token % of key % has had its one transaction', t, k
            USING ERRCODE = 'LK003';
    END IF;
    RAISE 'holdfast: the mark of key % was changed by hand', k
        USING ERRCODE = '40001', HINT = 'Run the transaction again.';
END
$refuse$;

-- What holdfast.guard and the trigger do, once they are the owner of the marks
-- and have set the search path. A transaction keeps its place until it ends:
-- those with the same token share it, one with a higher token waits for them,
-- and whoever comes later waits behind that one. That queue is an advisory lock
-- (of class 1212565324); locks of the row would let a crowd of stale writers
-- keep a new holder out, for who shares one may pass who waits for it. At READ
-- COMMITTED the mark is read once the lock is had, and nobody can raise it then.
-- At the other levels the snapshot may be older than the lock, so the row is
-- locked too, which fails with 40001 where the mark has been raised since. 40001
-- is no refusal: run the transaction again.
--
-- Each expression costs about a microsecond when a transaction comes to it first,
-- each query several: hence few of both.
CREATE OR REPLACE FUNCTION holdfast.pass(
    k text, t bigint, g text, strict boolean)
RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $pass$
DECLARE
    -- The connection remembers, until the transaction ends, that it was here:
    -- transaction, key, what came of it, token, id.
    xact CONSTANT text := concat(pg_current_xact_id(), ' ', k, ' ');
    raised boolean := false;
    shared boolean;
    known  boolean;
BEGIN
    IF current_setting('holdfast.passed', true) IN (
        concat(xact, 'first ', t, ' ', g),
        CASE WHEN NOT strict THEN concat(xact, 'again ', t, ' ', g) END) THEN
        RETURN true;
    END IF;

    -- Which lock to take; what is seen here decides nothing else.
    SELECT CASE WHEN mark.token >= t THEN
            pg_advisory_xact_lock_shared(1212565324, hashtext(k)) IS NOT NULL
        END INTO shared FROM holdfast.mark WHERE mark.key = k;
    IF shared IS NULL THEN
        known := FOUND;
        IF t IS NULL OR t < 1 THEN
            RAISE 'holdfast: % is not a token', coalesce(t::text, 'NULL')
                USING ERRCODE = 'LK005';
        ELSIF length(g) > 128 OR g !~ '^[A-Za-z0-9._@:+=%-]*$' THEN
            RAISE 'holdfast: "%" is not the id of a grant', left(g, 80)
                USING ERRCODE = 'LK005';
        END IF;
        PERFORM pg_advisory_xact_lock(1212565324, hashtext(k));
        IF NOT known THEN
            PERFORM holdfast.check_key(k);
            INSERT INTO holdfast.mark (key, token, grant_id) VALUES (k, t, g)
                ON CONFLICT DO NOTHING;
            raised := FOUND;
        END IF;
        IF NOT raised THEN
            UPDATE holdfast.mark
                SET token = t, grant_id = g, accepted_at = now(),
                    accepted_by = session_user
                WHERE mark.key = k AND mark.token < t;
            raised := FOUND;
        END IF;
    END IF;

    IF raised THEN
        -- A raised mark must not be lost by a crash that keeps what follows it.
        IF current_setting('synchronous_commit') IN ('off', 'local') THEN
            PERFORM set_config('synchronous_commit', 'on', true);
        END IF;
    ELSE
        -- Is it the grant that wrote last, once more?
        IF current_setting('transaction_isolation') = 'read committed' THEN
            SELECT mark.token = t AND mark.grant_id = g AND NOT strict
                INTO shared FROM holdfast.mark WHERE mark.key = k;
        ELSE
            SELECT mark.token = t AND mark.grant_id = g AND NOT strict
                INTO shared FROM holdfast.mark WHERE mark.key = k FOR SHARE;
        END IF;
        IF shared IS NOT TRUE THEN
            PERFORM holdfast.refuse(k, t, g);
        END IF;
    END IF;
    RETURN set_config('holdfast.passed', concat(xact,
            CASE WHEN raised THEN 'first ' ELSE 'again ' END, t, ' ', g), true)
            IS NOT NULL
        AND set_config('holdfast.passed_key', k, true) IS NOT NULL
        AND (NOT raised
            OR set_config('holdfast.passed_first', k, true) IS NOT NULL);
END
$pass$;

-- The first thing that a writing transaction does.
CREATE OR REPLACE FUNCTION holdfast.guard(
    key text, token bigint, grant_id text DEFAULT '',
    strict boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guard$
DECLARE
    done boolean;
BEGIN
    -- (Assigned rather than PERFORMed, which would cost a query.)
    done := holdfast.pass(key, token, coalesce(grant_id, ''), strict);
END
$guard$;
COMMENT ON FUNCTION holdfast.guard(text, bigint, text, boolean) IS
    'First in a transaction: refuses a token that is not current for the key.';

-- The same for a token that came as text: strict decimal, as everywhere in
-- Holdfast (bigint's own reader takes blanks, signs and, since 16, 0x10).
CREATE OR REPLACE FUNCTION holdfast.guard(
    key text, token text, grant_id text DEFAULT '',
    strict boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $guard$
BEGIN
    IF token IS NULL OR token !~ '^[1-9][0-9]{0,18}$' OR (length(token) = 19
        AND token COLLATE "C" > '9223372036854775807') THEN
        RAISE 'holdfast: "%" is not a token', left(token, 40)
            USING ERRCODE = 'LK005';
    END IF;
    PERFORM holdfast.guard(key, token::bigint, grant_id, strict);
END
$guard$;

-- Would guard accept it now? To fail early; what it says may be old the moment
-- after, so it fences nothing.
CREATE OR REPLACE FUNCTION holdfast.look(
    key text, token bigint, grant_id text DEFAULT '')
RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $look$
BEGIN
    IF EXISTS (SELECT FROM holdfast.mark m WHERE m.key = look.key
        AND (m.token > look.token OR (m.token = look.token
            AND m.grant_id <> coalesce(look.grant_id, '')))) THEN
        PERFORM holdfast.refuse(look.key, look.token,
            coalesce(look.grant_id, ''));
    END IF;
END
$look$;

-- ---- tables that are guarded wholesale -------------------------------------------

DROP FUNCTION IF EXISTS holdfast.guard_connection(text, boolean); -- of before

-- Before each statement of a transaction that has not passed yet. On partitioned
-- tables also after a row that came to a partition by another way (see attach).
-- The claim is the one that came with the connection itself (lockfence pg run
-- sends it in PGOPTIONS). SET and SET LOCAL look alike from here, and the first
-- would stay in a pooled connection for the next job: neither is believed.
-- set_config with NULL goes back to what the connection began with.
CREATE OR REPLACE FUNCTION holdfast.guard_table()
RETURNS trigger LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $table$
DECLARE
    seen CONSTANT text := coalesce(current_setting('holdfast.token', true), '');
    t    CONSTANT text := coalesce(set_config('holdfast.token', NULL, true), '');
    done boolean;
BEGIN
    IF seen = t AND t ~ '^[1-9][0-9]{0,18}$'
        AND (length(t) < 19 OR t COLLATE "C" <= '9223372036854775807')
        AND coalesce(current_setting('holdfast.key', true), '')
            IN ('', TG_ARGV[0]) THEN
        done := holdfast.pass(TG_ARGV[0], t::bigint,
            coalesce(current_setting('holdfast.grant_id', true), ''),
            TG_ARGV[1] = 'first');
        RETURN NULL;
    END IF;

    IF starts_with(coalesce(current_setting('holdfast.passed', true), ''),
        concat(pg_current_xact_id(), ' ', TG_ARGV[0], ' ')) THEN
        RAISE 'holdfast: token % of key % has had its one transaction',
            split_part(current_setting('holdfast.passed'), ' ', 4), TG_ARGV[0]
            USING ERRCODE = 'LK003';
    ELSIF seen <> t THEN
        RAISE 'holdfast: holdfast.token was SET in this session'
            USING ERRCODE = 'LK007',
                DETAIL = 'A pooled connection would keep it for another job.',
                HINT = 'Call holdfast.guard(key, token, grant) first in the '
                    'transaction, or connect with lockfence pg run.';
    ELSIF t = '' THEN
        RAISE 'holdfast: no fencing token came with this transaction'
            USING ERRCODE = 'LK004',
                DETAIL = format('The table is guarded under key %s.',
                    TG_ARGV[0]),
                HINT = 'Run it as lockrun ... -- lockfence pg run -- COMMAND, '
                    'or call holdfast.guard(key, token, grant) first in the '
                    'transaction. sudo, ssh and docker exec drop LOCK_TOKEN; '
                    'a pooler may drop the options of a connection.';
    ELSIF coalesce(current_setting('holdfast.key', true), '')
        NOT IN ('', TG_ARGV[0]) THEN
        RAISE 'holdfast: the table is guarded under key %, and this token is '
            'for key %', TG_ARGV[0], current_setting('holdfast.key')
            USING ERRCODE = 'LK006',
                HINT = format('Give lockrun --key=%s.', TG_ARGV[0]);
    END IF;
    RAISE 'holdfast: "%" is not a token', left(t, 40)
        USING ERRCODE = 'LK005';
END
$table$;

-- A table with all that is below it, itself first.
CREATE OR REPLACE FUNCTION holdfast.family(tab regclass)
RETURNS TABLE (member regclass, kind "char") LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $family$
    WITH RECURSIVE below AS (
        SELECT $1::oid AS oid, 0 AS depth
        UNION
        SELECT i.inhrelid, b.depth + 1
        FROM pg_inherits i JOIN below b ON b.oid = i.inhparent
    )
    SELECT c.oid::regclass, c.relkind
    FROM below b JOIN pg_class c ON c.oid = b.oid
    ORDER BY b.depth, c.oid
$family$;

CREATE OR REPLACE FUNCTION holdfast.detach(tab regclass)
RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $detach$
DECLARE
    part record;
BEGIN
    EXECUTE format('DROP TRIGGER IF EXISTS _holdfast_guard_row ON %s', tab);
    FOR part IN SELECT * FROM holdfast.family(tab) LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS _holdfast_guard ON %s',
            part.member);
    END LOOP;
END
$detach$;

-- Guard a table, and all of its partitions and children as they are now, under
-- a key. Rows that later partitions get are guarded too; TRUNCATE of such a
-- partition by its own name is not until attach is run again, and
-- holdfast.problem says so. ENABLE ALWAYS: session_replication_role = replica
-- is no way around. Strict: one transaction for each grant. Only the owner of
-- the table can do this.
CREATE OR REPLACE FUNCTION holdfast.attach(
    tab regclass, key text, strict boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $attach$
DECLARE
    first CONSTANT text := CASE WHEN strict THEN 'first' ELSE '' END;
    -- In a transaction that has passed it is one comparison. Short, for
    -- PostgreSQL parses it anew for each statement.
    come  CONSTANT text := format('WHEN (pg_catalog.current_setting(%L, true) '
        'IS DISTINCT FROM %L) EXECUTE FUNCTION holdfast.guard_table(%L, %L)',
        CASE WHEN strict THEN 'holdfast.passed_first'
        ELSE 'holdfast.passed_key' END, key, key, first);
    part  record;
BEGIN
    PERFORM holdfast.check_key(key);
    PERFORM holdfast.detach(tab);
    FOR part IN SELECT * FROM holdfast.family(tab) LOOP
        EXECUTE format('CREATE TRIGGER _holdfast_guard '
            'BEFORE INSERT OR UPDATE OR DELETE%s ON %s FOR EACH STATEMENT %s',
            CASE part.kind WHEN 'f' THEN '' ELSE ' OR TRUNCATE' END,
            part.member, come);
        EXECUTE format('ALTER TABLE ONLY %s ENABLE ALWAYS TRIGGER '
            '_holdfast_guard', part.member);
        CONTINUE WHEN part.kind <> 'p' OR part.member <> tab;
        -- Partitions get this one as they are made. It is for each row, and
        -- AFTER, so that a bulk load keeps its speed.
        EXECUTE format('CREATE TRIGGER _holdfast_guard_row '
            'AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW %s', tab, come);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER '
            '_holdfast_guard_row', tab);
    END LOOP;
END
$attach$;

-- ---- looking and mending ------------------------------------------------------------

CREATE OR REPLACE VIEW holdfast.guarded AS
    SELECT t.tgrelid::regclass AS tab,
           split_part(encode(t.tgargs, 'escape'), '\000', 1) AS key,
           split_part(encode(t.tgargs, 'escape'), '\000', 2) = 'first'
               AS strict,
           t.tgname AS trigger, t.tgtype, t.tgenabled, c.relkind
    FROM pg_catalog.pg_trigger t
    JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
    JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
    WHERE p.pronamespace = 'holdfast'::regnamespace
      AND p.proname = 'guard_table';

-- Bits of tgtype: 1 row, 2 before, 4 insert, 8 delete, 16 update, 32 truncate.
CREATE OR REPLACE VIEW holdfast.problem AS
    SELECT g.tab, format('trigger %I is not ENABLE ALWAYS', g.trigger)
        AS problem
    FROM holdfast.guarded g WHERE g.tgenabled <> 'A'
    UNION ALL
    SELECT g.tab, 'not all of INSERT, UPDATE, DELETE and TRUNCATE are guarded'
    FROM holdfast.guarded g
    WHERE g.trigger = '_holdfast_guard'
      AND (g.tgtype & 63) <> CASE g.relkind WHEN 'f' THEN 30 ELSE 62 END
    UNION ALL
    SELECT f.member, format('TRUNCATE of this part of %s is not guarded', g.tab)
    FROM holdfast.guarded g CROSS JOIN LATERAL holdfast.family(g.tab) f
    WHERE g.trigger = '_holdfast_guard' AND NOT EXISTS (
        SELECT FROM holdfast.guarded o
        WHERE o.tab = f.member AND o.trigger = '_holdfast_guard'
          AND o.key = g.key)
    UNION ALL
    SELECT g.tab, 'rows that reach a later partition directly are not guarded'
    FROM holdfast.guarded g
    WHERE g.trigger = '_holdfast_guard' AND g.relkind = 'p'
      AND NOT EXISTS (SELECT FROM holdfast.guarded o
        WHERE o.tab = g.tab AND o.trigger = '_holdfast_guard_row')
    UNION ALL
    SELECT 'holdfast.mark'::regclass, format('role %s may write marks',
        a.grantee::regrole)
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
    WHERE c.oid = 'holdfast.mark'::regclass AND a.grantee <> c.relowner
      AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE',
          'TRIGGER')
    UNION ALL
    SELECT 'holdfast.mark'::regclass, format('trigger %I is disabled', t.tgname)
    FROM pg_catalog.pg_trigger t
    WHERE t.tgrelid = 'holdfast.mark'::regclass AND t.tgenabled = 'D'
      AND NOT t.tgisinternal
    UNION ALL
    SELECT t.tgrelid::regclass, format('trigger %I is of another version: '
        'attach the guard again', t.tgname)
    FROM pg_catalog.pg_trigger t
    JOIN holdfast.guarded g ON g.tab = t.tgrelid AND g.trigger = t.tgname
    WHERE strpos(pg_get_triggerdef(t.oid), format('current_setting(%L',
        CASE WHEN g.strict THEN 'holdfast.passed_first'
        ELSE 'holdfast.passed_key' END)) = 0
    UNION ALL
    -- What the guard sets for a transaction; set for good it opens the table.
    SELECT 'holdfast.mark'::regclass, format('%s has %s: no guard stands', w, c)
    FROM (
        SELECT 'ALTER ROLE or DATABASE' AS w, s.setconfig AS configs
        FROM pg_catalog.pg_db_role_setting s
        LEFT JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase
        WHERE s.setdatabase = 0 OR d.datname = current_database()
        UNION ALL
        SELECT format('function %s', p.oid::regprocedure), p.proconfig
        FROM pg_catalog.pg_proc p WHERE p.proconfig IS NOT NULL
    ) x CROSS JOIN LATERAL unnest(x.configs) c
    WHERE c ILIKE 'holdfast.passed%';

-- Refuse every token below this one from now on; the token itself is taken from
-- whoever comes first with it. Never lowers.
CREATE OR REPLACE FUNCTION holdfast.bump(key text, token bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $bump$
DECLARE
    result bigint;
BEGIN
    IF token IS NULL OR token < 2 THEN
        RAISE 'holdfast: % refuses nothing', coalesce(token::text, 'NULL')
            USING ERRCODE = 'LK005';
    END IF;
    PERFORM holdfast.check_key(key);
    PERFORM pg_advisory_xact_lock(1212565324, hashtext(bump.key));
    INSERT INTO holdfast.mark AS m (key, token, grant_id)
        VALUES (bump.key, bump.token - 1, 'bump')
        ON CONFLICT ON CONSTRAINT mark_pkey DO UPDATE
        SET token = excluded.token, grant_id = excluded.grant_id,
            accepted_at = now(), accepted_by = session_user
        WHERE m.token <= excluded.token;
    SELECT m.token INTO result FROM holdfast.mark m WHERE m.key = bump.key;
    RETURN result;
END
$bump$;

-- ---- who may what -----------------------------------------------------------------

-- Writers of guarded tables need nothing: the triggers work as the owner of the
-- marks. Who calls holdfast.guard itself (lockfence pg write does) is allowed to
-- by name, and may read the marks. Nobody but the owner may write them.
CREATE OR REPLACE FUNCTION holdfast.allow(role regrole)
RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $allow$
BEGIN
    EXECUTE format('GRANT SELECT ON holdfast.mark, holdfast.guarded, '
        'holdfast.problem TO %s', role);
    EXECUTE format('GRANT EXECUTE ON FUNCTION holdfast.family(regclass), '
        'holdfast.guard(text, bigint, text, boolean), '
        'holdfast.guard(text, text, text, boolean) TO %s', role);
END
$allow$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC;
GRANT USAGE ON SCHEMA holdfast TO PUBLIC;
GRANT EXECUTE ON FUNCTION holdfast.look(text, bigint, text) TO PUBLIC;
