CREATE TABLE src (
  dev STRING,
  origin BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'in/readings.jsonl', 'format' = 'json');
CREATE TABLE out (
  dev STRING,
  origin BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT dev, origin FROM src;
