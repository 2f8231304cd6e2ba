CREATE TABLE src  (a INT) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out  (a INT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE copy (a INT) WITH ('connector' = 'filesystem', 'path' = 'other/../out.jsonl', 'format' = 'json');
INSERT INTO out SELECT a FROM src;
INSERT INTO copy SELECT a FROM src;
