CREATE TABLE src (
  id STRING,
  ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/e.jsonl', 'format' = 'json',
        'json.timestamp-unit' = 's');
CREATE TABLE out (
  window_start TIMESTAMP_LTZ(3),
  n BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE late (
  id STRING,
  ts TIMESTAMP_LTZ(3)
) WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');
CREATE VIEW w AS SELECT window_start, COUNT(*) AS n
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
INSERT INTO out SELECT window_start, n FROM w;
INSERT INTO late SELECT id, ts FROM LATE(w);
