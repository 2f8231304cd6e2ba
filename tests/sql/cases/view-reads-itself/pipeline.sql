CREATE TABLE src (a INT) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE VIEW v AS SELECT a FROM v;
SELECT * FROM v;
