-- The operator record_param_comms of each collective, with what its arguments say. Older profilers
-- write some of it for the operator only, and not for the kernel.
-- @scope trace
SELECT
    trace_id, event_id, track_id, ts_ns, end_ns,
    json_get_str(args, 'Collective name') AS collective_name,
    json_get_str(args, 'dtype') AS dtype,
    json_get_int(args, 'In msg nelems') AS in_msg_nelems,
    json_get_int(args, 'Out msg nelems') AS out_msg_nelems,
    json_as_text(args, 'In split size') AS in_split_size,
    json_as_text(args, 'Out split size') AS out_split_size,
    json_get_int(args, 'Group size') AS group_size,
    json_as_text(args, 'Process Group Name') AS group_name,
    json_get_str(args, 'Process Group Description') AS description,
    json_as_text(args, 'Process Group Ranks') AS group_ranks,
    json_get_int(args, 'Global rank start') AS rank_start,
    json_get_int(args, 'Global rank stride') AS rank_stride,
    json_get_int(args, 'Rank') AS group_rank,
    json_get_int(args, 'Src Rank') AS src_rank,
    json_get_int(args, 'Dst Rank') AS dst_rank,
    json_get_int(args, 'Seq') AS seq,
    json_as_text(args, 'Comms Id') AS comms_id
FROM events
WHERE name = 'record_param_comms' AND dur_ns IS NOT NULL AND json_contains(args, 'Collective name')
