CREATE TABLE src (a INT) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json', 'weir.on-error' = 'fail');
CREATE TABLE out (a INT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT a FROM src;
