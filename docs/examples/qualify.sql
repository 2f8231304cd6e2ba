-- A pipeline to be qualified with weir gen and weir verify: docs/qualification.md has the commands.
--
-- Reads events/part-N.jsonl of `weir gen`, writes the decoded events (cleaned/), counts and sums per item in windows of ten
-- seconds (results.db), events that came too late (late.jsonl) and records that cannot be decoded (dead.jsonl).

SET 'execution.checkpointing.interval' = '200 ms';

CREATE TABLE events (
  part   INT,
  seq    BIGINT,
  item   STRING,
  amount BIGINT,
  ts     TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND         -- gen's --bound
) WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json');

CREATE TABLE cleaned (part INT, seq BIGINT, item STRING, amount BIGINT, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'cleaned/', 'format' = 'json',
      'sink.rolling-policy.rollover-interval' = '1 s');

CREATE TABLE counts (window_start TIMESTAMP(3), window_end TIMESTAMP(3), item STRING, n BIGINT, total BIGINT)
WITH ('connector' = 'sqlite', 'path' = 'results.db', 'table' = 'counts');

CREATE TABLE late (part INT, seq BIGINT, item STRING, amount BIGINT, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');

CREATE TABLE dead (code STRING, message STRING, raw BYTES)
WITH ('connector' = 'filesystem', 'path' = 'dead.jsonl', 'format' = 'json');

CREATE VIEW by_item AS
  SELECT window_start, window_end, item, COUNT(*) AS n, SUM(amount) AS total
  FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)
  GROUP BY window_start, window_end, item;

INSERT INTO cleaned SELECT part, seq, item, amount, ts FROM events;
INSERT INTO counts  SELECT window_start, window_end, item, n, total FROM by_item;
INSERT INTO late    SELECT part, seq, item, amount, ts FROM LATE(by_item);
INSERT INTO dead    SELECT code, message, raw FROM DEAD_LETTERS(events);
