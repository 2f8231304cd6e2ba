CREATE TABLE src (
  k STRING,
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'in/le16.csv', 'format' = 'csv');
CREATE TABLE out (
  k STRING,
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, n FROM src;
