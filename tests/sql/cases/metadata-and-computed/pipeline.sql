/* two kinds
   of comments */ -- and the other
CREATE TEMPORARY TABLE IF NOT EXISTS src (
  `id` INT,
  twice AS id * 2,
  f STRING METADATA FROM 'file.name' VIRTUAL,
  o BIGINT METADATA FROM 'file.offset' VIRTUAL,
  l BIGINT METADATA FROM 'file.line' VIRTUAL
) WITH ('connector' = 'filesystem', 'path' = 'in/', 'format' = 'json');
CREATE TABLE a (id INT, twice INT, f STRING, o BIGINT, l BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'a.jsonl', 'format' = 'json');
CREATE TABLE b (t STRING)
  WITH ('connector' = 'filesystem', 'path' = 'b.csv', 'format' = 'csv', 'csv.header' = 'true');
CREATE TABLE never_used (x INT) WITH ('connector' = 'blackhole');
EXECUTE STATEMENT SET BEGIN
  INSERT INTO a SELECT id, twice, f, o, l FROM src;
  INSERT INTO b SELECT 'it''s ' || CAST(twice AS STRING) AS t FROM src WHERE id < 3;
END;
