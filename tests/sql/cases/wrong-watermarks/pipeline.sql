CREATE TABLE a (ts BIGINT,    WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE b (ts TIMESTAMP(6),    WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE c (ts TIMESTAMP(3),           WATERMARK FOR tz AS ts) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE d (ts TIMESTAMP(3),           WATERMARK FOR ts AS ts + INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE e (ts TIMESTAMP(3),           WATERMARK FOR ts AS ts - INTERVAL '-5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE f (ts TIMESTAMP(3),           WATERMARK FOR ts AS ts - INTERVAL '1' MONTH) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE g (ts TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
CREATE TABLE h (u TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'in/r.jsonl', 'format' = 'json');
SELECT COUNT(*) FROM TUMBLE(TABLE h, DESCRIPTOR(u), INTERVAL '1' SECOND) GROUP BY window_start, window_end;
