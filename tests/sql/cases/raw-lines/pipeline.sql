CREATE TABLE src (
  line STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/r.txt', 'format' = 'raw');
CREATE TABLE out (
  line STRING
) WITH ('connector' = 'filesystem', 'path' = 'out.txt', 'format' = 'raw');
INSERT INTO out SELECT REPLACE(line, 'a', 'b') AS line FROM src WHERE CHAR_LENGTH(line) < 5;
