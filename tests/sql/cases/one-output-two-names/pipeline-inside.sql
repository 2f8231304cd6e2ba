CREATE TABLE src  (a INT) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out  (a INT) WITH ('connector' = 'filesystem', 'path' = 'pipeline.weir/out.jsonl', 'format' = 'json');
INSERT INTO out SELECT a FROM src;
