CREATE TABLE l (
  id STRING,
  amount INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/l.jsonl', 'format' = 'json');
SELECT l.amount
FROM l JOIN l AS r ON l.id = r.id;
