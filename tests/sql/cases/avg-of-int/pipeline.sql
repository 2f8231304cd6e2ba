CREATE TABLE src (
  k STRING,
  i INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/a.jsonl', 'format' = 'json');
CREATE TABLE out (
  k STRING,
  a INT,
  ad DOUBLE,
  ac DECIMAL(38, 6)
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, AVG(i) AS a, AVG(CAST(i AS DOUBLE)) AS ad, AVG(CAST(i AS DECIMAL(10, 2))) AS ac
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, k;
