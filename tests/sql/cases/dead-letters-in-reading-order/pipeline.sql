CREATE TABLE src (
  id INT,
  s STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE poison (
  stage STRING,
  pos BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'poison.jsonl', 'format' = 'json');
INSERT INTO out SELECT CAST(s AS INT) AS n FROM src;
INSERT INTO poison SELECT stage, pos FROM DEAD_LETTERS(src);
