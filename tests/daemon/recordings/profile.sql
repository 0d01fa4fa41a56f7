-- SPDX-License-Identifier: MIT
-- Over everything.sql: samples of programs, a little of everything that a profile may hold.
DELETE FROM hotspots; DELETE FROM stacks; DELETE FROM symbols;
INSERT OR REPLACE INTO meta VALUES('hotspots.event','cpu-clock'),('hotspots.kernel','yes'),('hotspots.hz','1000');
-- 4096 is 0x1000. -65536 is 0xffffffffffff0000, where the kernel is.
INSERT INTO symbols VALUES(70,4096,0,'libjvm.so','mark_loop'),(70,8192,0,'libjvm.so','sweep;all'),
	(70,12288,0,'libc.so.6',NULL),(70,16384,0,'java','main'),(0,-65536,0,'[kernel]','do_fault'),(0,-32768,0,'[kernel]',NULL),
	(70,5000,0,'[methods]','Main.run <init>'),(70,5000,2000000000,'[methods]','Main.later'),(70,5001,0,'[methods]',NULL),
	(80,6000,1500000000,'[methods]','f (m.py:3)'),(80,4096,0,'python3.11','eval'),(90,4096,0,'[code without a file]',NULL);
INSERT INTO symbols SELECT 70, 100000 + value, 0, 'deep.so', 'frame ' || value FROM generate_series(0, 49);
INSERT INTO stacks VALUES(1,'1000 2000 4000'),(5,'2000 2000 9999 4000 9998'),(9,'zz'),(12,'ffffffffffff0000 1000 4000'),
	(13,'ffffffffffff8000 3000'),(14,'1000'),(20,(SELECT group_concat(printf('%x', 100000 + value), ' ') FROM generate_series(0, 49)));
-- Marking while all stand; in the kernel; beside the program, later; in no phase.
INSERT INTO hotspots SELECT 1200000000 + value * 1000000, 70, 70, 0, 3, 1, 5000, 4096, NULL, 1 FROM generate_series(0, 39);
INSERT INTO hotspots SELECT 1240500000 + value * 5000000, 70, 71, 1, 4, 2, 5000, 8192, NULL, 5 FROM generate_series(0, 19);
INSERT INTO hotspots SELECT 1500000000 + value * 1000000, 70, 71, 1, 7, 2, 5001, 4096, -65536, 12 FROM generate_series(0, 9);
INSERT INTO hotspots SELECT 1600000000 + value * 700000, 70, 70, 0, 0, 0, 0, 12288, -32768, 13 FROM generate_series(0, 6);
INSERT INTO hotspots SELECT 2300000000 + value * 1000000, 70, 71, 1, 4, 6, 5000, 16384, NULL, 14 FROM generate_series(0, 11);
-- Before its method had a name, and after; of nobody known; without a CPU; without an answer.
INSERT INTO hotspots SELECT 1499000000 + value * 500000, 80, 80, 2, 0, 0, 6000, 4096, NULL, NULL FROM generate_series(0, 4);
INSERT INTO hotspots VALUES(1700000000,90,90,3,NULL,NULL,NULL,4096,NULL,9),(1701000000,90,90,NULL,NULL,NULL,NULL,77,NULL,NULL),
	(1702000000,70,70,40000,NULL,NULL,NULL,12288,NULL,99),(1703000000,NULL,NULL,-1,0,0,0,NULL,NULL,20),
	(1704000000,70,70,0,0,0,7777,100007,NULL,20),(900000000,70,70,0,0,0,0,4096,NULL,1),(3600000000,70,70,0,0,0,0,4096,NULL,1);
