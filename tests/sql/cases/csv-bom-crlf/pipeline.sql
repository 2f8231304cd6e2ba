CREATE TABLE src (
  station STRING,
  temp_c DOUBLE
) WITH ('connector' = 'filesystem', 'path' = 'in/stations.csv', 'format' = 'csv',
        'csv.header' = 'true');
CREATE TABLE out (
  station STRING,
  temp_c DOUBLE
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT station, temp_c FROM src;
