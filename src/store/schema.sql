R"sql(
-- state.db, format 3. This file is included by schema.cc as one string (hence the first and the last line), and
-- target.sql behind it.
-- What an operator may read here is described in docs/state-format.md. Nobody but weir writes it.
--
-- Rules of the layout
--  * A seal writes few pages: rows are appended, one row an epoch, one a changed bucket; no secondary index.
--  * Hashes, lineages and digests are BLOBs (hex() shows them); times are ms since 1970 and only for people.

-- key: pipeline, instance (as recorded when the directory was born), weir (version that wrote last),
-- plan.canonical, plan.fingerprint (hex), parks (of the run that it names: what weir status shows of a stopped directory).
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Every lineage that this directory ever had, and those that an operator adopted (base NULL). last_sealed and
-- last_hash of the newest are in epoch; they are written here when the next lineage begins.
CREATE TABLE lineage (
  n INTEGER PRIMARY KEY,
  id BLOB NOT NULL,               -- 16 random bytes
  base INTEGER,                   -- its epochs have larger ids
  job TEXT,                       -- --job ID
  last_sealed INTEGER NOT NULL DEFAULT 0,
  last_hash BLOB
);

-- One process life. The newest row is durable before anything is cut or delivered.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  lineage INTEGER NOT NULL,       -- lineage.n
  mode TEXT NOT NULL,             -- fresh, resume
  reason TEXT NOT NULL,           -- of the takeover decision
  sealed INTEGER NOT NULL,        -- newest sealed epoch of the lineage when the run began
  boot_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  weir TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  words BLOB,                     -- SHA-256 over the resolutions that this run used up: part of its first epoch's hash
  ended TEXT                      -- finished, stopped or parked (everything sealed); NULL: it died, or runs
);

-- Sealed epochs: the row is the completion marker. Slim, because an outage of weeks piles them up; only what a delivery
-- or a check can still need is kept (ids at or below every target's A go, but for the newest thousand).
CREATE TABLE epoch (
  id INTEGER PRIMARY KEY,
  lineage INTEGER NOT NULL,
  run INTEGER NOT NULL,
  hash BLOB NOT NULL,             -- h(N), see src/store/chain.h
  digests BLOB NOT NULL,          -- what h(N) was made of: src/store/chain.h
  extents BLOB NOT NULL           -- rows and digest of each sink that got some: src/store/chain.h
);

-- What only the newest sealed epoch needs: one row, written anew by each seal.
CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch INTEGER NOT NULL,
  body TEXT NOT NULL,             -- JSON: watermarks, books
  sinks BLOB NOT NULL             -- where each stage stands: src/store/chain.h
);

-- State: one blob for each (epoch, owner, bucket) that changed; src/state/blob.h says what is in it.
CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,            -- node name
  epoch INTEGER NOT NULL,         -- applied in this order ...
  part INTEGER NOT NULL,          -- ... then this one (a large bucket is merged into several blobs); below 0: being merged, not in use
  crc INTEGER NOT NULL,           -- CRC-32C of data
  bucket BLOB NOT NULL,
  data BLOB NOT NULL
);

-- A of every target: what the target has proven to hold.
CREATE TABLE acked (
  target TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  seen_lineage BLOB, seen_epoch INTEGER, seen_rows INTEGER, seen_hash BLOB
) WITHOUT ROWID;

-- Output paths that are ours, whatever stands there.
CREATE TABLE claim (path TEXT PRIMARY KEY, sink TEXT NOT NULL, run INTEGER NOT NULL) WITHOUT ROWID;

-- The operator's words.
CREATE TABLE resolution (
  id INTEGER PRIMARY KEY,
  verb TEXT NOT NULL,
  subject TEXT NOT NULL,
  user TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  detail TEXT NOT NULL,
  run INTEGER                     -- that used it up; NULL: not yet
);
)sql"
