CREATE TABLE src (
  id STRING,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'in/i.jsonl', 'format' = 'json',
        'json.timestamp-format.standard' = 'ISO-8601');
CREATE TABLE out (
  id STRING,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, ts FROM src;
