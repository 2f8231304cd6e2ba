CREATE TABLE src (a INT) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json', 'json.ignore-parse-errors' = 'false');
CREATE TABLE out (a INT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT a FROM src;
