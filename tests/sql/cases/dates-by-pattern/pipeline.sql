CREATE TABLE src (id INT, d STRING) WITH ('connector' = 'filesystem', 'path' = 'in/d.csv', 'format' = 'csv', 'csv.header' = 'true', 'csv.field-delimiter' = ';');
CREATE TABLE out (id INT, d DATE, m DATE, n DATE, t TIMESTAMP(3), back STRING) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out
  SELECT id, TO_DATE(d, 'dd.MM.yyyy'), FLOOR(TO_DATE(d, 'dd.MM.yyyy') TO MONTH), CEIL(TO_DATE(d, 'dd.MM.yyyy') TO YEAR),
    TO_TIMESTAMP(d, 'dd.MM.yyyy'), DATE_FORMAT(TO_DATE(d, 'dd.MM.yyyy'), 'dd.MM.yyyy')
  FROM src;
