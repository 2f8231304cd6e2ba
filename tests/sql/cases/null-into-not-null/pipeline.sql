CREATE TABLE src (
  id INT,
  a INT,
  s STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (
  id INT,
  n INT NOT NULL,
  s STRING NOT NULL
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out
  SELECT id, a + TRY_CAST(s AS INT) AS n, s FROM src;
