SET 'weir.on-error' = 'fail';
CREATE TABLE src (
  id INT,
  s STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/c.jsonl', 'format' = 'json');
CREATE TABLE out (
  id INT,
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, CAST(s AS INT) AS n FROM src;
