-- Settings of the allocator as memory snapshots record them (PYTORCH_CUDA_ALLOC_CONF).
--
-- Snapshots from before PyTorch 2.3 have none.
--
-- Example: SELECT name, value FROM snapshot_settings ORDER BY name
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column name VARCHAR text Name of the setting.
-- @column value VARCHAR text Its value as text, JSON for lists and dicts.
WITH settings_of AS (
    SELECT trace_id, json_get_json(metadata, 'allocator_settings') AS settings
    FROM traces
    WHERE format = 'torch_memory'
),
named AS (
    SELECT trace_id, settings, unnest(json_object_keys(settings)) AS name
    FROM settings_of
    WHERE settings IS NOT NULL
)
SELECT trace_id, name, json_as_text(settings, name) AS value FROM named
