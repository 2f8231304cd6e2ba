R"sql(
-- What was found at a target that can lose its receipt (Kafka), and what is on its way there. Since format 2; rows of
-- older lineages stay, one for each session name: a fresh run fences them all.
CREATE TABLE target (
  lineage INTEGER NOT NULL,       -- lineage.n
  name TEXT NOT NULL,             -- as in acked
  session TEXT NOT NULL,          -- name under which it is delivered (transactional.id)
  at TEXT NOT NULL,               -- cluster and topic ids, end offsets as of A: src/protocol/whereabouts.h
  from_epoch INTEGER, from_rows INTEGER, -- F.from: NULL at the first delivery
  to_epoch INTEGER, to_rows INTEGER,     -- F.to; NULL: nothing is in flight
  since TEXT,                     -- F: where a scan for it begins
  PRIMARY KEY (lineage, name)
) WITHOUT ROWID;
)sql"
