CREATE TABLE src (
  v BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/t.jsonl', 'format' = 'json');
CREATE TABLE out (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  s BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT window_start, window_end, SUM(v) AS s
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '20' MINUTE) GROUP BY window_start, window_end;
