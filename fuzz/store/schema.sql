-- The regression database of tilefuzz: version 1 of the schema. Applied as it stands to a new
-- file; what comes later is a migration of its own (see migrate.c).

CREATE TABLE readme (
    line INTEGER PRIMARY KEY,
    text TEXT NOT NULL
);
INSERT INTO readme (text) VALUES
    ('This database is kept by tilefuzz, a fuzzer for tensor compilers.'),
    ('campaigns: one hunt each (seed, knobs, backends with versions, final counters).'),
    ('trials: the trials of a campaign that are worth keeping (findings, refusals).'),
    ('bugs: what was found; the signature names a bug, `text` is its smallest trial.'),
    ('observations: every time a bug was seen.'),
    ('replays: what a later run of a bug''s trial gave.'),
    ('states: who was open, fixed, back or wontfix, since when and why.'),
    ('A bug found under a fault (a compiler bug switched on by us) has fault other than none.'),
    ('Keys are 16 hex digits: the hash of a trial''s text. Times are UTC.'),
    ('Start with: SELECT id, kind, pass, rewrite, nodes, state FROM bugs;');

CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,          -- the same in every database that it is merged into
    seed INTEGER NOT NULL,
    preset TEXT,
    knobs TEXT,                        -- "name = value" lines
    gen_version INTEGER NOT NULL,
    backends TEXT,                     -- with versions
    fault TEXT NOT NULL DEFAULT 'none',
    subject_version TEXT,              -- of the compiler under test
    shard TEXT,
    tool_version TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT,                        -- NULL: was killed
    finished INTEGER NOT NULL DEFAULT 0, -- 0: interrupted or killed
    counters TEXT                      -- JSON
);

CREATE TABLE trials (
    campaign INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT,
    PRIMARY KEY (campaign, number)
) WITHOUT ROWID;

CREATE TABLE bugs (
    id INTEGER PRIMARY KEY,
    signature TEXT,                    -- NULL until it is minimized and explained
    fault TEXT NOT NULL DEFAULT 'none',
    cause TEXT,
    kind TEXT NOT NULL,
    class TEXT,
    stage TEXT,
    pass TEXT,
    rewrite TEXT,
    step TEXT,
    backend TEXT,
    algebra TEXT,
    tier TEXT,
    nodes INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    max_size INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'open'
        CHECK (state IN ('open', 'fixed', 'back', 'wontfix')),
    detail TEXT,
    text TEXT NOT NULL,                -- the minimized trial
    original TEXT,                     -- as it was drawn
    repro TEXT,                        -- a command to paste
    joined INTEGER REFERENCES bugs (id) -- is the same as that one, says the user
);
CREATE UNIQUE INDEX bugs_signature ON bugs (signature, fault);
CREATE INDEX bugs_cause ON bugs (cause, fault);
CREATE INDEX bugs_joined ON bugs (joined);

CREATE TABLE observations (
    id INTEGER PRIMARY KEY,
    bug INTEGER NOT NULL REFERENCES bugs (id) ON DELETE CASCADE,
    campaign INTEGER REFERENCES campaigns (id) ON DELETE CASCADE, -- NULL: a file
    number INTEGER,                    -- of the trial, NULL: a file
    key TEXT NOT NULL,
    subject_version TEXT
);
CREATE INDEX observations_bug ON observations (bug);

CREATE TABLE replays (
    id INTEGER PRIMARY KEY,
    bug INTEGER NOT NULL REFERENCES bugs (id) ON DELETE CASCADE,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,                -- the verdict
    cause TEXT,
    subject_version TEXT
);
CREATE INDEX replays_bug ON replays (bug);

CREATE TABLE states (
    id INTEGER PRIMARY KEY,
    bug INTEGER NOT NULL REFERENCES bugs (id) ON DELETE CASCADE,
    at TEXT NOT NULL,
    state TEXT NOT NULL,
    note TEXT
);
CREATE INDEX states_bug ON states (bug);
