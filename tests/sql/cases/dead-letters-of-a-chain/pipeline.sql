CREATE TABLE src (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (k STRING, q INT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE poison (message STRING, pos BIGINT) WITH ('connector' = 'filesystem', 'path' = 'dead.jsonl', 'format' = 'json');
CREATE VIEW d AS SELECT k, 10 / v AS q FROM src;
INSERT INTO out SELECT k, 100 / (q - 5) FROM d WHERE CAST(k AS INT) > 0;
INSERT INTO poison SELECT message, pos FROM DEAD_LETTERS(d);
