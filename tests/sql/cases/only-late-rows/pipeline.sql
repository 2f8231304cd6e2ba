CREATE TABLE src (
  v BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (
  window_start TIMESTAMP(3),
  n BIGINT,
  s BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE late (
  v BIGINT,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');
CREATE VIEW w AS SELECT window_start, COUNT(*) AS n, SUM(v) AS s
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end;
INSERT INTO out SELECT * FROM w;
INSERT INTO late SELECT v, ts FROM LATE(w);
