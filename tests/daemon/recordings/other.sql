-- SPDX-License-Identifier: MIT
-- Over everything.sql: another run of it, with more power, at another frequency.
UPDATE meta SET value = 'other' WHERE key = 'label';
UPDATE samples SET value = value * 11 / 10 WHERE rail = 1;
UPDATE transitions SET khz = 1400000 WHERE khz = 300000;
UPDATE phases SET t1 = t1 + (t1 - t0) / 8 WHERE id IN (1, 5, 7, 10);
