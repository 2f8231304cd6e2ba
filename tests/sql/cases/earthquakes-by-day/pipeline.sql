CREATE TABLE quakes (
  `DateTime` STRING,
  `Latitude` DECIMAL(9, 4),
  `Longitude` DECIMAL(9, 4),
  `Magnitude` DECIMAL(4, 2),
  `MagType` STRING,
  `NbStations` INT,
  `EventID` STRING,
  `Depth` STRING,
  `Gap` STRING,
  `Distance` STRING,
  `RMS` STRING,
  `Source` STRING,
  ts AS TO_TIMESTAMP(`DateTime`, 'yyyy/MM/dd HH:mm:ss.SS'),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'filesystem', 'path' = 'in/*.txt', 'format' = 'csv', 'csv.header' = 'true',
        'scan.watermark.alignment.max-drift' = '12 h');

CREATE TABLE days (
  day_start TIMESTAMP(3),
  mag_type  STRING,
  n         BIGINT,
  stations  BIGINT,
  strongest DECIMAL(4, 2),
  sum_mag   DECIMAL(38, 2),
  first_id  STRING
) WITH ('connector' = 'filesystem', 'path' = 'days.jsonl', 'format' = 'json');

CREATE TABLE late_quakes (
  id STRING,
  lat DECIMAL(9, 4),
  window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');

CREATE VIEW by_day AS
  SELECT window_start, `MagType`, COUNT(*) AS n, SUM(`NbStations`) AS stations, MAX(`Magnitude`) AS strongest,
         SUM(`Magnitude`) AS sum_mag, MIN(`EventID`) AS first_id
  FROM TUMBLE(TABLE quakes, DESCRIPTOR(ts), INTERVAL '1' DAY)
  WHERE `Magnitude` >= 1.0
  GROUP BY window_start, window_end, `MagType`
  HAVING COUNT(*) > 1;

INSERT INTO days SELECT * FROM by_day;
INSERT INTO late_quakes SELECT `EventID`, `Latitude`, window_end FROM LATE(by_day);
