-- The pipeline of the golden state directory: windows, sessions, late rows, dead letters, a database.
CREATE TABLE src (
  id STRING,
  k  STRING,
  v  BIGINT,
  d  STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json');
CREATE TABLE out (k STRING, window_start TIMESTAMP(3), n BIGINT, s BIGINT, a DOUBLE, lo STRING)
  WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE late (id STRING, window_end TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');
CREATE TABLE sessions (k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total DECIMAL(20, 2))
  WITH ('connector' = 'filesystem', 'path' = 'sessions.jsonl', 'format' = 'json');
CREATE TABLE latest (k STRING, id STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'sqlite', 'path' = 'out.db');

CREATE VIEW w AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s, AVG(CAST(v AS DOUBLE)) AS a, MIN(id) AS lo
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '2' SECOND)
  GROUP BY k, window_start, window_end;
INSERT INTO out SELECT * FROM w;
INSERT INTO late SELECT id, window_end FROM LATE(w);
INSERT INTO sessions
  SELECT k, window_start, window_end, COUNT(*) AS n, SUM(CAST(v AS DECIMAL(10, 2))) AS total
  FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)
  GROUP BY k, window_start, window_end;
INSERT INTO latest SELECT k, id, v FROM src WHERE k IS NOT NULL;
