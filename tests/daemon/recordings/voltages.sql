-- SPDX-License-Identifier: MIT
-- Over everything.sql: voltages alone, one that changes and one that does not.
DELETE FROM samples WHERE rail != 3;
INSERT INTO samples VALUES(900000000, 3, 850000, 1), (1800000000, 3, NULL, 1), (3400000000, 3, 950000, 1);
INSERT INTO samples SELECT t, 4, 250000, 1 FROM samples WHERE rail = 3;
UPDATE rails SET kind = 'voltage', unit = 'uV' WHERE id = 4;
