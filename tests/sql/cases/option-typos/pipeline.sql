SET 'execution.checkpointing.intervall' = '1 s';
SET 'weir.batch-rows'                 = 'many';
CREATE TABLE src (
  k STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/t.jsonl', 'format' = 'json', 'json.timestamp-unitt' = 's',
        'scan.watermark.idle-timeout' = '60',
        'weir.on-error' = 'dead-leter');
CREATE TABLE out (
  k STRING
) WITH ('connector' = 'filesystem', 'pth' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k FROM src;
