CREATE TABLE src (
  id INT,
  a INT,
  b INT
) WITH ('connector' = 'filesystem', 'path' = 'in/n.jsonl', 'format' = 'json');
CREATE TABLE out (
  id INT,
  i1 BOOLEAN,
  i2 BOOLEAN,
  c BOOLEAN,
  o BOOLEAN,
  d BOOLEAN
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE kept (
  id INT
) WITH ('connector' = 'filesystem', 'path' = 'kept.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, a IN (5, CAST(NULL AS INT)) AS i1, a NOT IN (5, CAST(NULL AS INT)) AS i2,
    (a > 0) AND (b > 0) AS c, (a > 0) OR (b > 0) AS o, a IS DISTINCT FROM 5 AS d
  FROM src;
INSERT INTO kept SELECT id FROM src WHERE NOT (a = 5);
