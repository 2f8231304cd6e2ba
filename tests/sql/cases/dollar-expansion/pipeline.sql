CREATE TABLE src (
  id INT,
  s STRING,
  t STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/odd$name.csv', 'format' = 'csv',
        'csv.null-literal' = '${LIT}');
CREATE TABLE out (
  id INT,
  s STRING,
  t STRING
) WITH ('connector' = 'filesystem', 'path' = 'out.csv', 'format' = 'csv',
        'csv.null-literal' = '$${x}${EMPTY}');
INSERT INTO out SELECT id, s, t FROM src;
