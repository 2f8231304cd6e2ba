CREATE TABLE src (
  k STRING,
  b BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/s.jsonl', 'format' = 'json');
CREATE TABLE out (
  k STRING,
  s BIGINT,
  n BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE VIEW w AS SELECT k, SUM(b) AS s, COUNT(*) AS n
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, k;
INSERT INTO out SELECT * FROM w;
