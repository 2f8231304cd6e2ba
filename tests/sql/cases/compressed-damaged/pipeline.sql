CREATE TABLE src (
  id INT,
  k STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/*', 'format' = 'json');
CREATE TABLE out (
  id INT,
  k STRING
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, k FROM src;
