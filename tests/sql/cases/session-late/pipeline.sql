CREATE TABLE src (
  k STRING,
  v BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/s.jsonl', 'format' = 'json');
CREATE TABLE out (
  k STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  n BIGINT,
  s BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE late (
  k STRING,
  v BIGINT,
  ts TIMESTAMP(3),
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');
CREATE VIEW w AS SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS s
  FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY k, window_start, window_end;
INSERT INTO out SELECT * FROM w;
INSERT INTO late SELECT k, v, ts, window_start, window_end FROM LATE(w);
