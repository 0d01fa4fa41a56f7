-- SPDX-License-Identifier: MIT
-- Over everything.sql: an almost empty recording.
UPDATE meta SET value = '' WHERE key IN ('label', 'board.model', 'board.host', 'board.kernel');
DELETE FROM samples; DELETE FROM rails; DELETE FROM transitions; DELETE FROM policies; DELETE FROM policy_states;
DELETE FROM processes; DELETE FROM opps; DELETE FROM decisions; DELETE FROM costs; DELETE FROM drops; DELETE FROM clocks;
DELETE FROM annotations; DELETE FROM heaps;
UPDATE phases SET cpu = NULL, tgid = NULL, tid = NULL, cause = NULL WHERE id > 2;
