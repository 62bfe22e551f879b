-- Host threads, whose events have stacks.
-- @scope trace
SELECT
  t.trace_id, t.track_id, t.pid, t.tid, t.pid_text, t.tid_text,
  coalesce(t.thread_name, concat('thread ', coalesce(t.tid_text, '?'))) AS thread
FROM tracks t
WHERE t.kind = 'cpu_thread'
