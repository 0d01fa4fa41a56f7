-- SPDX-License-Identifier: MIT
-- One recording of the demo as lines "label|what|value"; NULL where it is not known.
-- Times are between the annotations of gchintctl record. A frequency is the mean over
-- the time of the phases, each on the CPU where it began; outside of phases, over
-- all CPUs.
CREATE TEMP TABLE run AS SELECT
  (SELECT value FROM meta WHERE key = 'label') AS label,
  (SELECT min(t) FROM annotations WHERE text LIKE 'start: %') AS t0,
  (SELECT max(t) FROM annotations WHERE text LIKE 'end: %') AS t1;

CREATE TEMP TABLE segment AS
  SELECT cpu, khz, t AS t0, lead(t, 1, 9223372036854775807) OVER (PARTITION BY cpu ORDER BY t) AS t1
  FROM transitions WHERE khz > 0;

CREATE TEMP TABLE span AS
  SELECT CASE WHEN stw THEN 'pauses' WHEN phase IN ('mark', 'sweep') THEN phase ELSE 'other' END AS kind,
         cpu, t0, t1
  FROM phase_list WHERE t1 IS NOT NULL;

CREATE TEMP TABLE overlap AS
  SELECT s.kind, s.cpu, g.khz, min(s.t1, g.t1) - max(s.t0, g.t0) AS ns
  FROM span s JOIN segment g ON g.cpu = s.cpu AND g.t0 < s.t1 AND g.t1 > s.t0;

CREATE TEMP TABLE whole AS
  SELECT g.khz, min(r.t1, g.t1) - max(r.t0, g.t0) AS ns
  FROM run r JOIN segment g ON g.t0 < r.t1 AND g.t1 > r.t0;

SELECT label, 'time', (t1 - t0) / 1e9 FROM run;
SELECT label, 'energy', (SELECT (max(s.value) - min(s.value)) / 1e6 FROM samples s JOIN rails r ON r.id = s.rail
  WHERE r.kind = 'energy' AND r.id = (SELECT min(id) FROM rails WHERE kind = 'energy')) FROM run;
SELECT label, 'pause', (SELECT max(t1 - t0) / 1e6 FROM phase_list WHERE stw) FROM run;
SELECT label, 'wait', (SELECT max(t1 - t0) / 1e6 FROM phase_list WHERE phase = 'wait') FROM run;
SELECT label, 'transitions', (SELECT count(*) FROM transitions, run WHERE how != 'start' AND t >= t0 AND t <= t1) FROM run;
SELECT label, k.kind, (SELECT sum(khz * 1.0 * ns) / sum(ns) / 1000 FROM overlap o WHERE o.kind = k.kind)
  FROM run, (SELECT 'mark' AS kind UNION SELECT 'sweep' UNION SELECT 'pauses') k;
SELECT label, 'mutator',
  ((SELECT sum(khz * 1.0 * ns) FROM whole) - coalesce((SELECT sum(khz * 1.0 * ns) FROM overlap), 0)) /
  ((SELECT sum(ns) FROM whole) - coalesce((SELECT sum(ns) FROM overlap), 0)) / 1000 FROM run;
