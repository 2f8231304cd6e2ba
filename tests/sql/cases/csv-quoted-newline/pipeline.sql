CREATE TABLE src (
  id INT,
  note STRING,
  v INT
) WITH ('connector' = 'filesystem', 'path' = 'in/notes.csv', 'format' = 'csv',
        'csv.header' = 'true');
CREATE TABLE out (
  id INT,
  note STRING,
  v INT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, note, v FROM src;
