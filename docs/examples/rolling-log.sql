-- Follows a growing log and keeps its errors in rolling files: whole files only, never half a line.
--
--   weir run rolling-log.sql         runs until Ctrl-C; a new start goes on where it stopped
-- Reads app.log in the working directory, also when logrotate renames it or copies and truncates it. A file in errors/ appears,
-- complete, with the first epoch that is cut after it is ten seconds old, and at a stop if it is that old. A line without its
-- line feed waits for it.

SET 'execution.checkpointing.interval' = '1 s';

CREATE TABLE app_log (
  at      STRING,
  level   STRING,
  message STRING,
  place   BIGINT METADATA FROM 'file.line' VIRTUAL,
  ts AS TO_TIMESTAMP(at, 'yyyy-MM-dd''T''HH:mm:ss')
) WITH (
  'connector' = 'filesystem',
  'path' = 'app.log',
  'source.monitor-interval' = '200 ms',
  'format' = 'regex',
  'regex.pattern' = '^(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) (?P<level>[A-Z]+) (?P<message>.*)$'
);

CREATE TABLE errors (ts TIMESTAMP(3), message STRING, place BIGINT)
WITH (
  'connector' = 'filesystem',
  'path' = 'errors/',
  'format' = 'json',
  'sink.rolling-policy.rollover-interval' = '10 s',
  'sink.rolling-policy.file-size' = '1 MiB'
);

INSERT INTO errors SELECT ts, message, place FROM app_log WHERE level = 'ERROR';
