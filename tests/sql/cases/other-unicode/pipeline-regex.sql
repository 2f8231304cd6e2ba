CREATE TABLE src (
  k STRING,
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'in/le32.log', 'format' = 'regex',
        'regex.pattern' = '(?P<k>[a-z]+) (?P<n>[0-9]+)');
CREATE TABLE out (
  k STRING,
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, n FROM src;
