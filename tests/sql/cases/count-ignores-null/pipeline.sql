CREATE TABLE src (
  k STRING,
  v DOUBLE,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/c.jsonl', 'format' = 'json');
CREATE TABLE out (
  k STRING,
  c BIGINT,
  cv BIGINT,
  mn DOUBLE,
  mx DOUBLE,
  s DOUBLE,
  a DOUBLE,
  cf BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, COUNT(*) AS c, COUNT(v) AS cv, MIN(v) AS mn, MAX(v) AS mx, SUM(v) AS s, AVG(v) AS a,
    COUNT(*) FILTER (WHERE v > 0) AS cf
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, k;
