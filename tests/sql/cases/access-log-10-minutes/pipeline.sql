CREATE TABLE log (
  host   STRING,
  t      STRING,
  method STRING,
  url    STRING,
  status INT,
  size   STRING,
  ts AS TO_TIMESTAMP(t, 'dd/MMM/yyyy:HH:mm:ss Z'),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/access.log', 'format' = 'regex',
        'regex.pattern' = '^(?P<host>\S+) \S+ \S+ \[(?P<t>[^\]]+)\] "(?P<method>[A-Z]+) (?P<url>\S+) HTTP/[0-9.]+" (?P<status>\d{3}) (?P<size>\d+|-) ".*" ".*"$');

CREATE TABLE traffic (
  window_start TIMESTAMP(3),
  requests     BIGINT,
  bytes        BIGINT,
  errors       BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'traffic.csv', 'format' = 'csv', 'csv.header' = 'true');

CREATE TABLE late_lines (
  ts TIMESTAMP(3),
  url STRING,
  window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');

CREATE TABLE unparsable (
  raw BYTES,
  stage STRING,
  pos BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'unparsable.jsonl', 'format' = 'json');

CREATE VIEW by_ten_minutes AS
  SELECT window_start, COUNT(*) AS requests, SUM(TRY_CAST(size AS BIGINT)) AS bytes,
         COUNT(*) FILTER (WHERE status >= 500) AS errors
  FROM TUMBLE(TABLE log, DESCRIPTOR(ts), INTERVAL '10' MINUTE)
  GROUP BY window_start, window_end;

INSERT INTO traffic SELECT * FROM by_ten_minutes;
INSERT INTO late_lines SELECT ts, url, window_end FROM LATE(by_ten_minutes);
INSERT INTO unparsable SELECT raw, stage, pos FROM DEAD_LETTERS(log);
