-- A pipeline as it may stand on a gateway: sensor readings that other programs append to files become averages per minute and
-- sensor, in files that something else uploads. docs/sql.md has the dialect, docs/options.md every option.
--
--   weir check pipeline.sql     finds everything that can be found without running
--   weir run pipeline.sql       runs until SIGTERM; a start after any death goes on where the last sealed epoch ended

-- An epoch is cut, sealed and delivered this often.
SET 'execution.checkpointing.interval' = '1 s';

CREATE TABLE readings (
  sensor      STRING NOT NULL,                       -- a NULL is a dead letter
  temperature DECIMAL(6, 2),                         -- exact, to the last digit
  t           BIGINT,                                -- ms since 1970
  ts AS TO_TIMESTAMP_LTZ(t, 3),
  -- Rows of one file may come this far out of order without being late.
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '/var/lib/sensors/*.jsonl',
  'source.monitor-interval' = '1 s',                 -- follow: new files, new lines, rotation. Without it: read once, end
  'scan.watermark.idle-timeout' = '30 s',            -- a sensor that is silent does not hold up the others
  'format' = 'json'
);

-- A path that ends in / is a directory of rolling files: complete files appear, whole epochs in each.
CREATE TABLE averages (
  sensor STRING, minute TIMESTAMP_LTZ(3), temperature DECIMAL(38, 6), readings BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '/var/lib/uploads/averages/',
  'format' = 'csv',
  'csv.header' = 'true',
  'sink.rolling-policy.rollover-interval' = '1 min',
  'sink.rolling-policy.file-size' = '1 MiB'
);

-- What came too late for its minute is not lost.
CREATE TABLE late (sensor STRING, ts TIMESTAMP_LTZ(3), temperature DECIMAL(6, 2), watermark TIMESTAMP_LTZ(3))
WITH ('connector' = 'filesystem', 'path' = '/var/lib/uploads/late.jsonl', 'format' = 'json');

CREATE VIEW per_minute AS
  SELECT sensor, window_start, window_end, AVG(temperature) AS temperature, COUNT(*) AS readings
  FROM TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  WHERE temperature BETWEEN -80 AND 150
  GROUP BY sensor, window_start, window_end;

INSERT INTO averages SELECT sensor, window_start, temperature, readings FROM per_minute;
INSERT INTO late     SELECT sensor, ts, temperature, watermark FROM LATE(per_minute);

-- Lines that are no reading, and rows that cannot be computed, have no INSERT here: they go to dead/ in the state directory.
