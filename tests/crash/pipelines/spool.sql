-- More bytes for a database than one spool segment holds, so that whole segments are trimmed.
CREATE TABLE src (
  id STRING,
  p  STRING,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json');

CREATE TABLE t (id STRING, p STRING) WITH ('connector' = 'sqlite', 'path' = 'out.db');

INSERT INTO t SELECT id, p FROM src;
