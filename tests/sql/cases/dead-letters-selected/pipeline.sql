CREATE TABLE src (
  id INT,
  s STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE poison (
  stage STRING,
  raw BYTES,
  record STRING,
  source STRING,
  part INT,
  pos BIGINT,
  ts TIMESTAMP_LTZ(3)
) WITH ('connector' = 'filesystem', 'path' = 'poison.jsonl', 'format' = 'json');
CREATE TABLE bad_casts (
  stage STRING,
  record STRING,
  pos BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'bad_casts.jsonl', 'format' = 'json');
CREATE VIEW v AS SELECT CAST(s AS INT) AS n FROM src WHERE id > 1;
INSERT INTO out SELECT n FROM v;
INSERT INTO poison SELECT stage, raw, record, source, part, pos, ts FROM DEAD_LETTERS(src);
INSERT INTO bad_casts SELECT stage, record, pos FROM DEAD_LETTERS(v);
