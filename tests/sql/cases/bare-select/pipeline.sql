CREATE TABLE src (
  id INT,
  s STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
SELECT id, UPPER(s) AS s FROM src WHERE id > 1;
