CREATE TABLE src  (a INT) WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json');
CREATE TABLE out  (a INT) WITH ('connector' = 'filesystem', 'path' = 'in/out.jsonl', 'format' = 'json');
INSERT INTO out SELECT a FROM src;
