CREATE TABLE src (
  v INT
) WITH ('connector' = 'filesystem', 'path' = 'in/*.log', 'format' = 'json');
CREATE TABLE out (
  v INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT v FROM src;
