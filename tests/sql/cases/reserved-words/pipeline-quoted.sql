CREATE TABLE src (
  `timestamp` TIMESTAMP(3),
  `value` INT,
  k STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/t.jsonl', 'format' = 'json');
CREATE TABLE out (
  `timestamp` TIMESTAMP(3),
  `value` INT,
  k STRING
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT * FROM src;
