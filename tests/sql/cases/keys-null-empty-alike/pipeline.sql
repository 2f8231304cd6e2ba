CREATE TABLE src (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (k STRING, n BIGINT, s BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE sessions (k STRING, n BIGINT, s BIGINT) WITH ('connector' = 'filesystem', 'path' = 'sessions.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, COUNT(*), SUM(v) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)
  GROUP BY window_start, window_end, k;
INSERT INTO sessions SELECT k, COUNT(*), SUM(v) FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)
  GROUP BY window_start, window_end, k;
