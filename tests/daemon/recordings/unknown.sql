-- SPDX-License-Identifier: MIT
-- Over profile.sql: a profile of which nothing but its samples is known.
DELETE FROM rails;
UPDATE meta SET value = '' WHERE key LIKE 'hotspots.%';
UPDATE hotspots SET cpu = NULL, phase = NULL, flags = NULL, method = NULL;
