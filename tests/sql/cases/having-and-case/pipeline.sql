CREATE TABLE src (
  page STRING,
  bytes INT,
  ts STRING,
  t AS TO_TIMESTAMP(ts, 'dd/MMM/yyyy:HH:mm:ss Z'),
  WATERMARK FOR t AS t - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE out (
  section STRING,
  day STRING,
  n BIGINT,
  big BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE VIEW pages AS SELECT REGEXP_EXTRACT(page, '^/([a-z]+)/', 1) AS section, bytes, t FROM src;
INSERT INTO out
  SELECT section, DATE_FORMAT(window_start, 'yyyy-MM-dd') AS `day`, COUNT(*) AS n, SUM(CASE WHEN bytes > 100 THEN 1 ELSE 0 END) AS big
  FROM TUMBLE(TABLE pages, DESCRIPTOR(t), INTERVAL '1' DAY)
  WHERE section IS NOT NULL AND section <> ''
  GROUP BY section, window_start, window_end
  HAVING COUNT(*) > 1;
