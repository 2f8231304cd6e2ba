CREATE TABLE src (
  id INT,
  k STRING,
  v BIGINT,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE parts (
  id INT,
  k STRING
) WITH ('connector' = 'filesystem', 'path' = 'parts/', 'format' = 'json',
        'sink.rolling-policy.file-size' = '64 b');
INSERT INTO parts SELECT id, k FROM src;
