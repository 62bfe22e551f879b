-- Process groups of each trace by distributedInfo.pg_config: name, description and the whole list
-- of ranks. pg_config may be JSON or a text that holds JSON, a list or an object by name.
--
-- rank_lists is the number of different lists with two or more ranks in the trace.
-- @scope trace
WITH configs AS (
    SELECT
        trace_id,
        coalesce(
            json_get_str(metadata, 'distributedInfo', 'pg_config'),
            json_get_json(metadata, 'distributedInfo', 'pg_config')
        ) AS config
    FROM traces
    WHERE json_contains(metadata, 'distributedInfo', 'pg_config')
),
listed AS (
    SELECT trace_id, CAST(NULL AS VARCHAR) AS key, unnest(json_get_array(config)) AS entry
    FROM configs
    UNION ALL
    SELECT trace_id, key, json_get_json(config, key) AS entry
    FROM (SELECT trace_id, config, unnest(json_object_keys(config)) AS key FROM configs)
),
named AS (
    SELECT
        trace_id,
        coalesce(json_as_text(entry, 'pg_name'), key) AS group_name,
        json_get_str(entry, 'pg_desc') AS description,
        json_get_int(entry, 'pg_size') AS size,
        replace(
            coalesce(json_get_str(entry, 'ranks'), json_get_json(entry, 'ranks')), ' ', ''
        ) AS ranks
    FROM listed
),
whole AS (
    SELECT
        trace_id, group_name, description,
        CASE WHEN ranks NOT LIKE '%...%' THEN replace(ranks, ',', ', ') END AS ranks,
        coalesce(CASE WHEN ranks NOT LIKE '%...%' THEN CAST(json_length(ranks) AS BIGINT) END,
            size) AS size
    FROM named
    WHERE group_name IS NOT NULL
),
sets AS (
    SELECT trace_id, count(DISTINCT ranks) AS rank_lists, min(ranks) AS only_ranks
    FROM whole
    WHERE size > 1
    GROUP BY trace_id
)
SELECT
    w.trace_id, w.group_name,
    max(w.description) AS description,
    CASE WHEN count(DISTINCT w.ranks) = 1 THEN max(w.ranks) END AS ranks,
    CASE WHEN count(DISTINCT w.size) = 1 THEN max(w.size) END AS size,
    max(coalesce(s.rank_lists, 0)) AS rank_lists,
    max(CASE WHEN s.rank_lists = 1 THEN s.only_ranks END) AS only_ranks
FROM whole w
LEFT JOIN sets s ON s.trace_id = w.trace_id
GROUP BY w.trace_id, w.group_name
