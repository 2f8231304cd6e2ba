-- A tumbling window with its late rows (rolling) and the dead letters of its source (append).
CREATE TABLE src (
  id STRING,
  k  STRING,
  v  BIGINT,
  d  STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json',
        'scan.watermark.alignment.max-drift' = '5 s');

CREATE TABLE counts (k STRING, window_start TIMESTAMP(3), n BIGINT, s BIGINT, hi BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'counts.jsonl', 'format' = 'json');
CREATE TABLE late (id STRING, ts TIMESTAMP(3), window_end TIMESTAMP(3), watermark TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'late/', 'format' = 'json', 'sink.rolling-policy.file-size' = '1 kb');
CREATE TABLE poison (stage STRING, raw BYTES, record STRING, part INT, pos BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'poison.jsonl', 'format' = 'json');

CREATE VIEW w AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s, MAX(v) AS hi
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND)
  GROUP BY k, window_start, window_end;

INSERT INTO counts SELECT * FROM w;
INSERT INTO late SELECT id, ts, window_end, watermark FROM LATE(w);
INSERT INTO poison SELECT stage, raw, record, part, pos FROM DEAD_LETTERS(src);
