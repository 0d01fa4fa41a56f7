-- SPDX-License-Identifier: MIT
-- Frequency and core voltage by governor and phase. A frequency is the mean over
-- the time of the phases, from the transitions. The core voltage is that of the last
-- look at the regulator, with the same weights: it lags by up to the sampling period.
-- Unknown is NULL.
.mode column
.nullvalue unknown
.headers on

CREATE TEMP TABLE run AS
  SELECT substr(b.text, 7) AS governor, b.t AS t0,
         (SELECT min(e.t) FROM annotations e WHERE e.text = 'end ' || substr(b.text, 7)) AS t1
  FROM annotations b WHERE b.text LIKE 'begin %';

CREATE TEMP TABLE segment AS
  SELECT cpu, khz, t AS t0, lead(t, 1, 9223372036854775807) OVER (PARTITION BY cpu ORDER BY t) AS t1
  FROM transitions;

CREATE TEMP TABLE span AS
  SELECT r.governor, coalesce(p.phase, '?') || CASE WHEN p.stw THEN ' (stopped)'
         WHEN p.concurrent THEN ' (concurrent)' ELSE '' END AS phase, p.cpu, p.t0, p.t1
  FROM phase_list p JOIN run r ON p.t0 >= r.t0 AND p.t1 <= r.t1
  UNION ALL
  SELECT governor, 'whole run', 0, t0, t1 FROM run;

CREATE TEMP TABLE mean AS
  SELECT s.governor, s.phase,
         sum((min(s.t1, g.t1) - max(s.t0, g.t0)) * g.khz * 1.0) /
         sum(min(s.t1, g.t1) - max(s.t0, g.t0)) / 1000 AS mhz
  FROM span s JOIN segment g ON g.cpu = s.cpu AND g.t0 < s.t1 AND g.t1 > s.t0
  GROUP BY s.governor, s.phase;

CREATE TEMP TABLE level AS
  SELECT m.value / 1000 AS mv, m.t AS t0, lead(m.t, 1, 9223372036854775807) OVER (ORDER BY m.t) AS t1
  FROM samples m JOIN rails r ON r.id = m.rail AND r.label = 'vddarm';

CREATE TEMP TABLE volt AS
  SELECT s.governor, s.phase, min(l.mv) AS lo, max(l.mv) AS hi,
         sum((min(s.t1, l.t1) - max(s.t0, l.t0)) * l.mv * 1.0) / sum(min(s.t1, l.t1) - max(s.t0, l.t0)) AS mean
  FROM span s JOIN level l ON l.t0 < s.t1 AND l.t1 > s.t0
  GROUP BY s.governor, s.phase;

SELECT s.governor, s.phase, count(*) AS n, printf('%.1f', sum(s.t1 - s.t0) / 1e6) AS "total ms",
       CASE WHEN m.mhz NOT NULL THEN printf('%.0f', m.mhz) END AS "mean MHz",
       CASE WHEN v.mean NOT NULL THEN printf('%.0f', v.mean) END AS "core mV", v.lo AS "min mV", v.hi AS "max mV"
FROM span s LEFT JOIN mean m USING (governor, phase) LEFT JOIN volt v USING (governor, phase)
GROUP BY s.governor, s.phase
ORDER BY s.governor DESC, s.phase;

.print
SELECT r.name AS rail, r.kind, count(*) AS samples, min(s.value) AS min, max(s.value) AS max, r.unit,
       coalesce(r.derived, 'measured') AS how
FROM samples s JOIN rails r ON r.id = s.rail
WHERE r.kind = 'power' OR r.label = 'vddarm'
GROUP BY r.id ORDER BY r.name;
