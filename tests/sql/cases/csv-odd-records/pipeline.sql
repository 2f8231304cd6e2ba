CREATE TABLE src (name STRING, n INT) WITH ('connector' = 'filesystem', 'path' = 'in/r.csv', 'format' = 'csv', 'csv.header' = 'true');
CREATE TABLE out (name STRING, n INT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT name, n FROM src;
