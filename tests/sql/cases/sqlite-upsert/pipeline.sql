CREATE TABLE src (
  id INT,
  k STRING,
  v BIGINT,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE t (
  k STRING,
  v BIGINT,
  id INT,
  PRIMARY KEY (k) NOT ENFORCED
) WITH ('connector' = 'sqlite', 'path' = 'out.db');
INSERT INTO t SELECT k, v, id FROM src;
