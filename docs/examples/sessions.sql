-- Visits to a shop: events of a user with no pause longer than 30 minutes are one visit.
--
-- Run it in a directory that holds events.jsonl (a made-up one is beside this file):
--   weir run sessions.sql
-- Writes visits.jsonl, late.jsonl (events of visits that were closed already) and broken.jsonl (lines that are no event).

CREATE TABLE events (
  `user` STRING NOT NULL,
  page   STRING,
  amount DECIMAL(10, 2),
  at     TIMESTAMP_LTZ(3),
  WATERMARK FOR at AS at - INTERVAL '1' MINUTE       -- events may come up to a minute out of order
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');

CREATE TABLE visits (
  `user` STRING,
  begun  TIMESTAMP_LTZ(3),
  ended  TIMESTAMP_LTZ(3),                           -- 30 minutes after the last event
  pages  BIGINT,
  spent  DECIMAL(38, 2)
) WITH ('connector' = 'filesystem', 'path' = 'visits.jsonl', 'format' = 'json');

CREATE TABLE late (`user` STRING, page STRING, at TIMESTAMP_LTZ(3), watermark TIMESTAMP_LTZ(3))
  WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');

CREATE TABLE broken (message STRING, pos BIGINT, raw BYTES)
  WITH ('connector' = 'filesystem', 'path' = 'broken.jsonl', 'format' = 'json');

CREATE VIEW by_visit AS
  SELECT `user`, window_start, window_end, COUNT(*) AS pages, SUM(amount) AS spent
  FROM SESSION(TABLE events PARTITION BY `user`, DESCRIPTOR(at), INTERVAL '30' MINUTE)
  GROUP BY `user`, window_start, window_end;

INSERT INTO visits SELECT `user`, window_start, window_end, pages, spent FROM by_visit;
INSERT INTO late   SELECT `user`, page, at, watermark FROM LATE(by_visit);
INSERT INTO broken SELECT message, pos, raw FROM DEAD_LETTERS(events);
