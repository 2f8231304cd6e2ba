CREATE TABLE src (
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/t.jsonl', 'format' = 'json');
CREATE TABLE out (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  n BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT window_start, window_end, COUNT(*) AS n
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MONTH) GROUP BY window_start, window_end;
