CREATE TABLE src (
  line STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/be16.txt', 'format' = 'raw');
CREATE TABLE out (
  line STRING
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT line FROM src;
