-- SPDX-License-Identifier: MIT
-- Over everything.sql: another run of it, which differs a little.
UPDATE samples SET value = value * 102 / 100 WHERE rail = 1;
UPDATE phases SET t1 = t1 - 300000 WHERE id IN (1, 10);
