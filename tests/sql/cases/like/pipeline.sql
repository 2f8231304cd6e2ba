CREATE TABLE src (
  id INT,
  p STRING
) WITH ('connector' = 'filesystem', 'path' = 'in/l.jsonl', 'format' = 'json');
CREATE TABLE out (
  id INT,
  e1 BOOLEAN,
  w BOOLEAN,
  pc BOOLEAN,
  `any` BOOLEAN,
  bs BOOLEAN
) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, p LIKE 'a#_b' ESCAPE '#' AS e1, p LIKE 'a_b' AS w, p LIKE '%#%' ESCAPE '#' AS pc,
    p LIKE '%' AS `any`, p LIKE 'a\_b' AS bs
  FROM src;
