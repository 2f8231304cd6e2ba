CREATE TABLE src (
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'in/w.jsonl', 'format' = 'json');
CREATE TABLE out (
  d STRING
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT DATE_FORMAT(ts, 'yyyy-MM-DD') AS d FROM src;
