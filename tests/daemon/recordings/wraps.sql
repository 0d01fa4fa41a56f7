-- SPDX-License-Identifier: MIT
-- Over everything.sql: a counter that wraps, is unreadable for a while, and is read twice at an instant.
DELETE FROM samples WHERE rail != 2;
UPDATE samples SET value = NULL WHERE (t - 1003000000) / 50000000 IN (20, 21, 22, 49);
UPDATE samples SET value = value - 4000000 WHERE t > 2600000000;
UPDATE samples SET t = (SELECT t FROM samples s WHERE s.rowid = samples.rowid - 1) WHERE (t - 1003000000) / 50000000 = 30;
