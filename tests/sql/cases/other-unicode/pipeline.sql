CREATE TABLE src (
  k STRING,
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'in/bom16.jsonl', 'format' = 'json');
CREATE TABLE out (
  k STRING,
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, n FROM src;
