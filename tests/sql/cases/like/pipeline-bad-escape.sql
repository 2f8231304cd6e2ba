CREATE TABLE src (
  id INT,
  p STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/l.jsonl', 'format' = 'json');
CREATE TABLE out (
  id INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id FROM src WHERE p LIKE 'a#b' ESCAPE '#';
