-- SQLite: the last row of each key (upsert), window counts (append), one database; a rolling file beside it.
CREATE TABLE src (
  id STRING,
  k  STRING,
  v  BIGINT,
  d  STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json',
        'scan.watermark.alignment.max-drift' = '5 s');

CREATE TABLE latest (k STRING, id STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'sqlite', 'path' = 'out.db');
CREATE TABLE counts (k STRING, window_start TIMESTAMP(3), n BIGINT, s BIGINT)
  WITH ('connector' = 'sqlite', 'path' = 'out.db');
CREATE TABLE parts (id STRING)
  WITH ('connector' = 'filesystem', 'path' = 'parts/', 'format' = 'raw', 'sink.rolling-policy.file-size' = '4 kb');

CREATE VIEW w AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND)
  GROUP BY k, window_start, window_end;

INSERT INTO latest SELECT k, id, v FROM src;
INSERT INTO counts SELECT * FROM w;
INSERT INTO parts SELECT id FROM src WHERE v > 900;
