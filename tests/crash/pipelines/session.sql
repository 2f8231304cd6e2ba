-- Sessions by key, with their late rows.
CREATE TABLE src (
  id STRING,
  k  STRING,
  v  BIGINT,
  d  STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json',
        'scan.watermark.alignment.max-drift' = '5 s');

CREATE TABLE sessions (k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, s BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'sessions.jsonl', 'format' = 'json');
CREATE TABLE late (id STRING, ts TIMESTAMP(3), window_end TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');

CREATE VIEW w AS
  SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS s
  FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '0.700' SECOND)
  GROUP BY k, window_start, window_end;

INSERT INTO sessions SELECT * FROM w;
INSERT INTO late SELECT id, ts, window_end FROM LATE(w);
