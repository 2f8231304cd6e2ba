CREATE TABLE src (
  id INT,
  k STRING,
  v BIGINT,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE t (
  id INT,
  k STRING,
  v BIGINT,
  ts TIMESTAMP(3)
) WITH ('connector' = 'sqlite', 'path' = 'out.db');
INSERT INTO t SELECT id, k, v, ts FROM src WHERE v > 3;
