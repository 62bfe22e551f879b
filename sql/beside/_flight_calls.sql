-- The collectives of each rank by group, generation and number. Coalesced operations share a
-- number. Generations are counted on each rank (_flight_generations).
--
-- sizes are those that must agree between ranks: all of them for most collectives, the outputs of
-- an all_gather and the inputs of a reduce_scatter, because ranks may give shares of other sizes,
-- and none for all_to_all, scatter and gather.
-- @scope store
WITH calls AS (
    SELECT
        g.job, g.rank, g.generation, r.*,
        CASE
            WHEN r.name LIKE '%all\_to\_all%' ESCAPE '\' OR r.name LIKE '%alltoall%'
                OR r.name LIKE '%scatter' AND r.name NOT LIKE '%reduce\_scatter%' ESCAPE '\'
                OR r.name LIKE '%:gather' OR r.name LIKE '%coalesced%' THEN ''
            WHEN r.name LIKE '%all\_gather%' ESCAPE '\' THEN concat('out ', r.output_sizes)
            WHEN r.name LIKE '%reduce\_scatter%' ESCAPE '\' THEN concat('in ', r.input_sizes)
            ELSE concat('in ', r.input_sizes, ' out ', r.output_sizes)
        END AS agreed_sizes
    FROM flight_records r
    JOIN _flight_generations g ON g.trace_id = r.trace_id AND g.event_id = r.event_id
)
SELECT
    job, group_name, rank, trace_id, generation, collective_seq AS seq,
    min(event_id) AS event_id,
    count(*) AS records,
    CASE
        WHEN bool_and(state = 'completed') THEN 'completed'
        WHEN bool_or(state = 'scheduled') THEN 'scheduled'
        ELSE max(state)
    END AS state,
    min(created_ns) AS created_ns,
    string_agg(name, ', ' ORDER BY event_id) AS name,
    string_agg(agreed_sizes, ', ' ORDER BY event_id) AS sizes,
    string_agg(concat(input_dtypes, ' ', output_dtypes), ', ' ORDER BY event_id) AS dtypes
FROM calls
GROUP BY job, group_name, rank, trace_id, generation, collective_seq
