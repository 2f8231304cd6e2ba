CREATE TABLE src (v INT) WITH ('connector' = 'filesystem', 'path' = 'in/app.log*', 'format' = 'json');
CREATE TABLE out (v INT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT v FROM src;
