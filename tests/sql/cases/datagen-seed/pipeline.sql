CREATE TABLE g (
  id BIGINT,
  v INT
) WITH ('connector' = 'datagen', 'rows-per-second' = '0', 'number-of-rows' = '200', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1',
        'fields.id.end' = '200', 'fields.v.min' = '0', 'fields.v.max' = '9', 'weir.seed' = '7');
CREATE TABLE out (
  id BIGINT,
  ok BOOLEAN
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, v BETWEEN 0 AND 9 AS ok FROM g;
