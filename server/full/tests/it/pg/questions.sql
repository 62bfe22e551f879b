-- What programs with a window ask a server of PostgreSQL before they show its tables. The line
-- before each question has the number of rows that answer it: a number, or "some".

-- Settings of drivers.
-- rows: 0
SET extra_float_digits = 3;

-- rows: 0
SET application_name = 'a program';

-- rows: 0
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;

-- rows: 1
SHOW TRANSACTION ISOLATION LEVEL;

-- rows: 1
SHOW search_path;

-- rows: 1
SHOW timezone;

-- rows: 1
SELECT current_database(), current_schema(), session_user, version();

-- rows: 1
SELECT setting FROM pg_catalog.pg_settings WHERE name = 'standard_conforming_strings';

-- rows: 1
SELECT relname FROM pg_catalog.pg_class WHERE oid = 'pg_class'::regclass;

-- Databases and schemas, with comments and rights.
-- rows: 1
SELECT d.oid, d.datname FROM pg_catalog.pg_database d WHERE d.datname = current_database();

-- rows: some
SELECT s.oid, s.nspname, c.description
FROM pg_catalog.pg_namespace s LEFT JOIN pg_catalog.pg_description c
    ON c.objoid = s.oid AND c.classoid = 'pg_namespace'::regclass AND c.objsubid = 0;

-- rows: 1
SELECT nspname FROM pg_catalog.pg_namespace
WHERE nspname = ANY(current_schemas(false)) AND has_schema_privilege(current_user, nspname, 'usage');

-- rows: 0
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname ~ '^pg_temp_';

-- Tables and views, with comments, sizes and rights.
-- rows: 1
SELECT c.relname, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END, d.description
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_description d
    ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname = 'public'
    AND c.relname = 'findings' AND d.description <> '';

-- rows: 11
SELECT tablename FROM pg_catalog.pg_tables
WHERE schemaname = 'public' AND tablename IN ('traces', 'devices', 'tracks', 'events', 'kernels',
    'memory', 'modules', 'flows', 'counters', 'steps', 'ingest_issues');

-- rows: some
SELECT viewname FROM pg_catalog.pg_views WHERE schemaname = 'public';

-- rows: 0
SELECT matviewname FROM pg_catalog.pg_matviews;

-- rows: 1
SELECT pg_catalog.pg_relation_size(c.oid), pg_catalog.pg_total_relation_size(c.oid)
FROM pg_catalog.pg_class c WHERE c.relname = 'events';

-- rows: 1
SELECT has_table_privilege(current_user, 'public.events', 'select') AS may_read,
    has_any_column_privilege(current_user, 'public.events', 'select') AS may_read_a_column;

-- The names that the search path makes short, from the text of the setting.
-- rows: 1
SELECT quote_ident(table_name) FROM information_schema.tables
WHERE table_name = 'kernels' AND quote_ident(table_schema) IN (
    SELECT trim(part) FROM unnest(string_to_array(current_setting('search_path'), ',')) AS p(part));

-- rows: 1
SELECT (parse_ident('public.kernels'))[1], (parse_ident('public.kernels'))[2],
    array_length(parse_ident('public.kernels'), 1);

-- Columns, with types, defaults and comments.
-- rows: 1
SELECT a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.atthasdef,
    pg_get_expr(e.adbin, e.adrelid), col_description(a.attrelid, a.attnum)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_catalog.pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
WHERE c.relname = 'kernels' AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = 'dur_ns';

-- rows: 1
SELECT quote_ident(column_name), data_type, is_nullable FROM information_schema.columns
WHERE table_schema = 'public' AND table_name = 'kernels' AND column_name = 'dur_ns';

-- Types, their arrays and the tables that have types of their own.
-- rows: some
SELECT t.oid, t.typname, t.typtype, format_type(nullif(t.typbasetype, 0), t.typtypmod), e.typname
FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
WHERE c.oid IS NULL OR c.relkind = 'c';

-- rows: 1
SELECT typname, typinput = 'pg_catalog.array_in'::regproc FROM pg_catalog.pg_type
WHERE oid = '_int8'::regtype;

-- rows: 1
SELECT typname FROM pg_catalog.pg_type WHERE oid = 20 AND oid::regtype::text = 'bigint';

-- rows: 0
SELECT enumlabel FROM pg_catalog.pg_enum;

-- Keys, indexes and extensions, which this server does not have.
-- rows: 0
SELECT k.conname, pg_get_constraintdef(k.oid), r.relname
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class t ON t.oid = k.conrelid
LEFT JOIN pg_catalog.pg_class r ON r.oid = k.confrelid WHERE t.relname = 'events';

-- rows: 0
SELECT x.indkey, pg_get_expr(x.indpred, x.indrelid), pg_get_expr(x.indexprs, x.indrelid, true)
FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class t ON t.oid = x.indrelid
WHERE t.relname = 'events';

-- rows: 1
SELECT (SELECT count(*) FROM pg_catalog.pg_extension WHERE extname = 'timescaledb') AS extensions,
    (SELECT count(*) FROM pg_catalog.pg_replication_slots) AS slots;

-- Functions and words.
-- rows: some
SELECT p.proname, p.prokind = 'a' AS is_aggregate, p.proretset FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE p.proname = 'count';

-- rows: 1
SELECT string_agg(word, ',') FROM pg_catalog.pg_get_keywords() WHERE word <> ALL ('{select}'::text[]);
