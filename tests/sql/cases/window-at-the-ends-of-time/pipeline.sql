CREATE TABLE src (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (window_start TIMESTAMP(3), window_end TIMESTAMP(3), s BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT window_start, window_end, SUM(v) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '7' DAY)
  GROUP BY window_start, window_end;
