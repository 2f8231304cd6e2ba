CREATE TABLE src (
  id INT,
  s STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (
  s STRING
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out
SELECT CAST(NOW() AS STRING) AS s FROM src;
