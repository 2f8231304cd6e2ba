CREATE TABLE src (
  s STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/s.jsonl', 'format' = 'json');
CREATE TABLE out (
  a STRING,
  b STRING,
  c STRING,
  d STRING,
  e STRING,
  f STRING
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT SUBSTRING(s, 0) AS a, SUBSTRING(s, 0, 3) AS b, SUBSTRING(s, -3) AS c, SUBSTRING(s, -3, 2) AS d,
    SUBSTRING(s FROM 5 FOR 100) AS e, SUBSTRING(s, 11, 1) AS f
  FROM src;
