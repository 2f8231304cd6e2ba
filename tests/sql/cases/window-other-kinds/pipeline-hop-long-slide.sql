CREATE TABLE src (
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/t.jsonl', 'format' = 'json');
SELECT window_start, window_end, COUNT(*) AS n
FROM HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '45' MINUTE, INTERVAL '20' MINUTE)
GROUP BY window_start, window_end;
