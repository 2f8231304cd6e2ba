-- The pipeline of the golden state directory: windows, sessions, late rows, dead letters, a database.
-- Its input is made from a seed: files would be listed with the paths and inodes of the machine that recorded it.
CREATE TABLE src (
  id BIGINT,
  k  INT,
  v  BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0.1' SECOND
) WITH ('connector' = 'datagen', 'number-of-rows' = '600', 'rows-per-second' = '400', 'weir.seed' = '11',
        'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '600',
        'fields.k.min' = '0', 'fields.k.max' = '9', 'fields.v.min' = '-3', 'fields.v.max' = '900',
        'fields.ts.max-past' = '400 ms');
CREATE TABLE out (k INT, window_start TIMESTAMP(3), n BIGINT, s BIGINT, a DOUBLE, lo BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE late (id BIGINT, window_end TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');
CREATE TABLE sessions (k INT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total DECIMAL(20, 2))
  WITH ('connector' = 'filesystem', 'path' = 'sessions.jsonl', 'format' = 'json');
CREATE TABLE poison (stage STRING, code STRING, record STRING, pos BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'poison.jsonl', 'format' = 'json');
CREATE TABLE latest (k INT, id BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'sqlite', 'path' = 'out.db');

CREATE VIEW w AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s, AVG(CAST(v AS DOUBLE)) AS a, MIN(id) AS lo
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '0.2' SECOND)
  GROUP BY k, window_start, window_end;
INSERT INTO out SELECT * FROM w;
INSERT INTO late SELECT id, window_end FROM LATE(w);
INSERT INTO sessions
  SELECT k, window_start, window_end, COUNT(*) AS n, SUM(CAST(v AS DECIMAL(10, 2))) AS total
  FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '0.03' SECOND)
  GROUP BY k, window_start, window_end;
INSERT INTO poison SELECT stage, code, record, pos FROM DEAD_LETTERS(src);
INSERT INTO latest SELECT k, id, 1000 / v AS v FROM src;
