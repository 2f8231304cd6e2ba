CREATE TABLE src (k STRING) WITH ('connector' = 'filesystem', 'path' = 'in/a.jsonl', 'format' = 'json');
CREATE TABLE one (k STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h1:9092', 'format' = 'json');
CREATE TABLE again (k STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h1:9092', 'format' = 'json');
CREATE TABLE elsewhere (k STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h2:9092', 'format' = 'json');
INSERT INTO one SELECT k FROM src;
INSERT INTO again SELECT k FROM src;
INSERT INTO elsewhere SELECT k FROM src;
