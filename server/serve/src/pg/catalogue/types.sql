SELECT t.oid, n.nspname AS ns, t.typname AS name, t.typtype AS kind,
    CAST(NULL AS INT) AS basetype, t.typelem AS elemtype, e.typdelim AS elemdelim,
    CAST(NULL AS INT) AS range_subtype, CAST(NULL AS INT[]) AS attrtypoids,
    CAST(NULL AS TEXT[]) AS attrnames, 0 AS depth, CAST(NULL AS TEXT) AS basetype_name,
    e.typname AS elemtype_name, CAST(NULL AS TEXT) AS range_subtype_name
FROM pg_catalog.pg_type t
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
WHERE array_has($1, t.oid)
UNION ALL
SELECT e.oid, n.nspname, e.typname, e.typtype, CAST(NULL AS INT), 0, CAST(NULL AS TEXT),
    CAST(NULL AS INT), CAST(NULL AS INT[]), CAST(NULL AS TEXT[]), 1, CAST(NULL AS TEXT),
    CAST(NULL AS TEXT), CAST(NULL AS TEXT)
FROM pg_catalog.pg_type t
JOIN pg_catalog.pg_type e ON e.oid = t.typelem
JOIN pg_catalog.pg_namespace n ON n.oid = e.typnamespace
WHERE array_has($1, t.oid)
ORDER BY depth DESC
