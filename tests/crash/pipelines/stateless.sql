-- Filter and project into an append file and into small rolling parts. Bad rows: dead/.
CREATE TABLE src (
  id STRING,
  k  STRING,
  v  BIGINT,
  d  STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json',
        'scan.watermark.alignment.max-drift' = '5 s');

CREATE TABLE out (id STRING, v BIGINT, n INT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE parts (id STRING, k STRING)
  WITH ('connector' = 'filesystem', 'path' = 'parts/', 'format' = 'csv', 'sink.rolling-policy.file-size' = '2 kb');

INSERT INTO out SELECT id, v * 2 AS v, CAST(d AS INT) AS n FROM src WHERE v > -900;
INSERT INTO parts SELECT id, k FROM src WHERE v > 0;
