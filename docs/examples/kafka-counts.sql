-- From Kafka to Kafka: count and sum per item in windows of two seconds, and the events that came too late.
-- packaging/kafka-quickstart.sh runs it, kills it, and lets `weir verify` judge what a reader sees.
--
-- KAFKA is an environment variable: the brokers, as host:port,host:port.

SET 'execution.checkpointing.interval' = '200 ms';

CREATE TABLE events (
  part   INT,
  seq    BIGINT,
  item   STRING,
  amount BIGINT,
  ts     TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'weir-demo-events', 'properties.bootstrap.servers' = '${KAFKA}',
        'scan.startup.mode' = 'earliest-offset', 'format' = 'json');

CREATE TABLE counts (item STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT)
WITH ('connector' = 'kafka', 'topic' = 'weir-demo-counts', 'properties.bootstrap.servers' = '${KAFKA}',
      'key.format' = 'raw', 'key.fields' = 'item', 'value.format' = 'json');

CREATE TABLE late (part INT, seq BIGINT, item STRING, amount BIGINT, ts TIMESTAMP(3))
WITH ('connector' = 'kafka', 'topic' = 'weir-demo-late', 'properties.bootstrap.servers' = '${KAFKA}',
      'format' = 'json');

CREATE VIEW by_item AS
  SELECT window_start, window_end, item, COUNT(*) AS n, SUM(amount) AS total
  FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND)
  GROUP BY window_start, window_end, item;

INSERT INTO counts SELECT item, window_start, window_end, n, total FROM by_item;
INSERT INTO late   SELECT part, seq, item, amount, ts FROM LATE(by_item);
