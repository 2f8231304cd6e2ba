-- Earthquakes per day and kind of magnitude, from a catalogue in CSV into a table of an SQLite database.
--
-- Run it in a directory that holds earthquakes.txt (the bundled one is tests/data/earthquakes.txt):
--   weir run earthquakes.sql
--   sqlite3 earthquakes.db "SELECT * FROM per_day ORDER BY strongest DESC LIMIT 10"
-- The table has a PRIMARY KEY, so rows are upserted: a second run writes the same rows over the first ones.

CREATE TABLE quakes (
  `DateTime` STRING,
  `Magnitude` DECIMAL(4, 2),
  `Depth`     DECIMAL(6, 2),
  MagType     STRING,
  ts AS TO_TIMESTAMP(`DateTime`, 'yyyy/MM/dd HH:mm:ss.SS'),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'earthquakes.txt', 'format' = 'csv', 'csv.header' = 'true');

CREATE TABLE per_day (
  day_start   TIMESTAMP(3),
  magnitude_type STRING,
  quakes      BIGINT,
  strongest   DECIMAL(4, 2),
  depth_km    DECIMAL(38, 6),
  PRIMARY KEY (day_start, magnitude_type) NOT ENFORCED
) WITH ('connector' = 'sqlite', 'path' = 'earthquakes.db');

INSERT INTO per_day
  SELECT window_start, COALESCE(MagType, ''), COUNT(*), MAX(`Magnitude`), AVG(`Depth`)
  FROM TUMBLE(TABLE quakes, DESCRIPTOR(ts), INTERVAL '1' DAY)
  GROUP BY window_start, window_end, COALESCE(MagType, '');
