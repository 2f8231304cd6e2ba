-- Requests, bytes and server errors per 10 minutes of a web server's access log (combined format), and its busiest
-- 10 seconds.
--
-- Run it in a directory that holds access.log (packaging/quickstart.sh does; the bundled log is tests/data/access.log):
--   weir run access-log.sql
-- Writes traffic.csv, peaks.csv, late.jsonl (lines that came after their window had closed, and which window that was)
-- and unparsable.log (lines that are no access log, as they stand).

CREATE TABLE access_log (
  client   STRING,
  at       STRING,
  method   STRING,
  url      STRING,
  status   INT,
  size     STRING,                                   -- bytes, or '-'
  ts AS TO_TIMESTAMP(at, 'dd/MMM/yyyy:HH:mm:ss Z'),
  WATERMARK FOR ts AS ts - INTERVAL '45' SECOND      -- the server writes lines up to a minute out of order:
                                                     -- enough for 10 minutes, too little for some 10 seconds
) WITH (
  'connector' = 'filesystem',
  'path' = 'access.log',
  'format' = 'regex',
  'regex.pattern' = '^(?P<client>\S+) \S+ \S+ \[(?P<at>[^\]]+)\] "(?P<method>[A-Z]+) (?P<url>\S+) [^"]*" (?P<status>\d{3}) (?P<size>\d+|-) "[^"]*" "[^"]*"$'
);

CREATE TABLE traffic (
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  requests     BIGINT,
  bytes        BIGINT,
  errors_5xx   BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'traffic.csv', 'format' = 'csv', 'csv.header' = 'true');

CREATE TABLE peaks (window_start TIMESTAMP(3), requests BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'peaks.csv', 'format' = 'csv', 'csv.header' = 'true');

CREATE TABLE late (
  ts         TIMESTAMP(3),
  url        STRING,
  window_end TIMESTAMP(3),
  watermark  TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');

CREATE TABLE unparsable (line BYTES)
  WITH ('connector' = 'filesystem', 'path' = 'unparsable.log', 'format' = 'raw');

CREATE VIEW by_10_minutes AS
  SELECT window_start, window_end,
         COUNT(*) AS requests,
         SUM(TRY_CAST(size AS BIGINT)) AS bytes,
         COUNT(*) FILTER (WHERE status >= 500) AS errors_5xx
  FROM TUMBLE(TABLE access_log, DESCRIPTOR(ts), INTERVAL '10' MINUTE)
  GROUP BY window_start, window_end;

CREATE VIEW by_10_seconds AS
  SELECT window_start, COUNT(*) AS requests
  FROM TUMBLE(TABLE access_log, DESCRIPTOR(ts), INTERVAL '10' SECOND)
  GROUP BY window_start, window_end
  HAVING COUNT(*) >= 30;

INSERT INTO traffic    SELECT * FROM by_10_minutes;
INSERT INTO peaks      SELECT * FROM by_10_seconds;
INSERT INTO late       SELECT ts, url, window_end, watermark FROM LATE(by_10_minutes);
INSERT INTO late       SELECT ts, url, window_end, watermark FROM LATE(by_10_seconds);
INSERT INTO unparsable SELECT raw FROM DEAD_LETTERS(access_log);
