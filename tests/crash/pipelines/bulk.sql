-- Epochs that do not fit the buffer of an output: rows of 4 KiB, written while the epoch is open.
CREATE TABLE src (
  id STRING,
  k  STRING,
  v  BIGINT,
  d  STRING,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json');

CREATE TABLE out (id STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.csv', 'format' = 'csv');
CREATE TABLE parts (id STRING)
  WITH ('connector' = 'filesystem', 'path' = 'parts/', 'format' = 'raw', 'sink.rolling-policy.file-size' = '300 kb');

INSERT INTO out SELECT RPAD(id, 4000, 'x') AS id, v FROM src;
INSERT INTO parts SELECT LPAD(id, 3000, 'y') AS id FROM src WHERE v > 0;
