CREATE TABLE src (
  id INT,
  s STRING,
  t STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/odd$name.csv', 'format' = 'csv',
        'csv.null-literal' = '${UNSET}');
SELECT * FROM src;
