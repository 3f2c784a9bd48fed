-- SPDX-License-Identifier: Apache-2.0
-- A nightly job that knows nothing of locks: table "rollup" is guarded
-- (lockfence pg init --key shop/nightly/rollup rollup), and `lockfence pg run`
-- hands the token to the connection.
BEGIN;
DELETE FROM rollup WHERE day = current_date - 1;
INSERT INTO rollup (day, orders)
SELECT current_date - 1, count(*) FROM orders WHERE day = current_date - 1;
COMMIT;
