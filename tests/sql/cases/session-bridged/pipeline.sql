CREATE TABLE src (
  k STRING,
  v BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'in/s.jsonl', 'format' = 'json');
CREATE TABLE out (
  k STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  n BIGINT,
  s BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS s
  FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '12' SECOND)
  GROUP BY k, window_start, window_end;
