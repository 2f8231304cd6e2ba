CREATE TABLE src (
  id INT,
  a INT,
  b INT,
  s STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (
  id INT,
  q INT,
  c INT,
  o BOOLEAN,
  n BOOLEAN
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out
  SELECT id, CASE WHEN b <> 0 THEN a / b WHEN id = 4 THEN a / b ELSE -1 END AS q, COALESCE(a, CAST(s AS INT)) AS c,
    b = 0 OR a / b > 1 AS o, b <> 0 AND a / b > 1 AS n
  FROM src
  WHERE id <> 5 AND 10 / (id - 5) <> 99;
