CREATE TABLE src  (a INT) WITH ('connector' = 'filesystem', 'path' = './', 'format' = 'json');
CREATE TABLE out  (a INT) WITH ('connector' = 'filesystem', 'path' = '/nonexistent/out.jsonl', 'format' = 'json');
INSERT INTO out SELECT a FROM src;
