//! The figures of HTA and the queries that give the same.

use std::collections::BTreeMap;

use serde_json::Value;

/// One file of HTA's figures and the query with the same rows.
pub struct Check {
    pub file: &'static str,
    pub sql: &'static str,
    /// Columns that identify a row.
    pub key: &'static [usize],
    /// Columns with a greater tolerance, relative to the value or to 1.
    pub loose: &'static [(usize, f64)],
    pub settings: &'static [(&'static str, &'static str)],
    /// The rows to compare, from those of the file.
    pub wanted: fn(&[Value]) -> Vec<Vec<String>>,
}

/// The text of a cell, as queries of the tests give it.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn all(rows: &[Value]) -> Vec<Vec<String>> {
    let row = |row: &Value| row.as_array().expect("a row").iter().map(cell).collect();
    rows.iter().map(row).collect()
}

/// Without stretches of length 0, which are there or not depending on the order of equal times.
fn above_zero(rows: &[Value]) -> Vec<Vec<String>> {
    all(rows).into_iter().filter(|row| row[1] != "0").collect()
}

/// The last length at each time of a stream: the order of changes at one time is open.
fn last_at_each_time(rows: &[Value]) -> Vec<Vec<String>> {
    let mut last = BTreeMap::new();
    for row in all(rows) {
        let [rank, _, start, _, _, stream, length] = &row[..] else { panic!("{row:?}") };
        last.insert([rank.clone(), stream.clone(), start.clone()], length.clone());
    }
    last.into_iter().map(|(key, length)| [key.to_vec(), vec![length]].concat()).collect()
}

/// Without the short name of the kernel; HTA writes no annotation as an empty text.
fn without_names(rows: &[Value]) -> Vec<Vec<String>> {
    let mut rows = all(rows);
    for row in &mut rows {
        row.remove(6);
        if row[6].is_empty() {
            row[6] = "NULL".to_owned();
        }
    }
    rows
}

const PLAIN: Check = Check { file: "", sql: "", key: &[0], loose: &[], settings: &[], wanted: all };

/// Rounded to three decimals by HTA.
const THREE_DECIMALS: f64 = 5.01e-4;

pub const CHECKS: &[Check] = &[
    Check {
        file: "temporal_breakdown",
        sql: "SELECT coalesce(rank, 0), idle_time_us, compute_time_us, non_compute_time_us,
                kernel_time_us, idle_time_pct, compute_time_pct, non_compute_time_pct
              FROM hta_temporal_breakdown",
        ..PLAIN
    },
    Check {
        file: "comm_comp_overlap",
        sql: "SELECT coalesce(rank, 0), comp_comm_overlap_pct FROM hta_comm_comp_overlap",
        ..PLAIN
    },
    Check {
        file: "kernel_type_breakdown",
        sql: "SELECT kernel_type, sum(sum_us), round(100.0 * sum(sum_us) / sum(sum(sum_us)) OVER (), 1)
              FROM hta_kernel_type_breakdown GROUP BY kernel_type",
        wanted: above_zero,
        ..PLAIN
    },
    Check {
        file: "kernel_breakdown_all",
        sql: "SELECT name, sum_us, max_us, min_us, stddev_us, mean_us, kernel_type, coalesce(rank, 0)
              FROM hta_kernel_breakdown",
        key: &[0, 6, 7],
        ..PLAIN
    },
    Check {
        file: "kernel_breakdown_top10",
        sql: "SELECT name, sum_us, max_us, min_us, stddev_us, mean_us, kernel_type, coalesce(rank, 0)
              FROM hta_kernel_breakdown_folded",
        key: &[0, 6, 7],
        ..PLAIN
    },
    Check {
        file: "idle_time_breakdown",
        sql: "SELECT coalesce(rank, 0), stream, idle_category, idle_time_us, idle_time_ratio
              FROM hta_idle_time",
        key: &[0, 1, 2],
        loose: &[(4, 0.0051)],
        ..PLAIN
    },
    Check {
        file: "idle_interval_stats",
        sql: "SELECT idle_category, coalesce(rank, 0), stream, gaps, mean_us, stddev_us, min_us,
                p25_us, p50_us, p75_us, max_us
              FROM hta_idle_time",
        key: &[0, 1, 2],
        loose: &[(4, 0.0051), (5, 0.0051), (7, 0.0051), (8, 0.0051), (9, 0.0051)],
        ..PLAIN
    },
    Check {
        file: "queue_length_summary",
        sql: "SELECT coalesce(rank, 0), stream, points, mean_length, stddev_length, min_length,
                p25_length, p50_length, p75_length, max_length
              FROM hta_queue_length_summary",
        key: &[0, 1],
        // Launches and starts of the same microsecond.
        loose: &[(3, 0.02), (4, 0.03), (8, 0.001)],
        ..PLAIN
    },
    Check {
        file: "queue_length_time_series",
        sql: "SELECT coalesce(rank, 0), stream,
                start_us - (SELECT min(start_us) FROM _hta_complete), queue_length
              FROM hta_queue_length
              WHERE coalesce(length_us, 1) > 0",
        key: &[0, 1, 2],
        wanted: last_at_each_time,
        ..PLAIN
    },
    Check {
        file: "blocked_on_full_queue_1024",
        sql: "SELECT coalesce(rank, 0), stream, full_us, 0 FROM hta_queue_length_summary
              WHERE full_us > 0",
        ..PLAIN
    },
    Check {
        file: "blocked_on_full_queue_100",
        sql: "SELECT coalesce(s.rank, 0), s.stream, s.full_us, CAST(s.full_us AS DOUBLE) / w.us
              FROM hta_queue_length_summary s
              JOIN (
                SELECT trace_id, max(start_us) - min(start_us) AS us FROM _hta_rows GROUP BY trace_id
              ) w ON w.trace_id = s.trace_id
              WHERE s.full_us > 0",
        settings: &[("hta_max_queue_length", "100")],
        ..PLAIN
    },
    Check {
        file: "memory_bw_summary",
        sql: "SELECT coalesce(rank, 0), name, count(*), avg(memory_bw_gb_s),
                stddev_samp(memory_bw_gb_s), min(memory_bw_gb_s), quantile(memory_bw_gb_s, 0.25),
                quantile(memory_bw_gb_s, 0.5), quantile(memory_bw_gb_s, 0.75), max(memory_bw_gb_s)
              FROM hta_memory_bandwidth WHERE memory_bw_gb_s > 0 GROUP BY 1, 2",
        key: &[0, 1],
        ..PLAIN
    },
    Check {
        file: "kernel_launch_stats",
        sql: "SELECT coalesce(rank, 0), correlation, cpu_duration_us, gpu_duration_us, launch_delay_us
              FROM hta_launch_statistics",
        key: &[0, 1, 2, 3, 4],
        ..PLAIN
    },
    Check {
        file: "kernel_launch_stats_no_memory",
        sql: "SELECT coalesce(rank, 0), correlation, cpu_duration_us, gpu_duration_us, launch_delay_us
              FROM hta_launch_statistics WHERE NOT is_memory",
        key: &[0, 1, 2, 3, 4],
        ..PLAIN
    },
    Check {
        file: "user_annotation_breakdown_cpu",
        sql: "SELECT name, sum_us, max_us, min_us, stddev_us, mean_us, coalesce(rank, 0)
              FROM hta_user_annotations WHERE place = 'host'",
        key: &[0, 6],
        ..PLAIN
    },
    Check {
        file: "user_annotation_breakdown_gpu",
        sql: "SELECT name, sum_us, max_us, min_us, stddev_us, mean_us, coalesce(rank, 0)
              FROM hta_user_annotations WHERE place = 'device'",
        key: &[0, 6],
        ..PLAIN
    },
    Check {
        file: "aten_op_kernels_and_delay",
        sql: "SELECT coalesce(rank, 0), aten_op_name, kernel_sequence, occurrence_count,
                avg_aten_op_launch_delay_us, avg_runtime_delay_us
              FROM hta_aten_op_delays",
        key: &[0, 1, 2],
        loose: &[(4, THREE_DECIMALS), (5, THREE_DECIMALS)],
        ..PLAIN
    },
    Check {
        file: "kernels_with_user_annotations",
        sql: "SELECT coalesce(rank, 0), event_id,
                start_us - (SELECT min(start_us) FROM _hta_complete), dur_us, stream, correlation,
                annotation
              FROM hta_kernels_with_annotations",
        key: &[0, 1],
        wanted: without_names,
        ..PLAIN
    },
    sequences("kernel_sequences_aten_linear", &[("hta_operator_name", "aten::linear")]),
    sequences("kernel_sequences_aten_addmm", &[("hta_operator_name", "aten::addmm")]),
    sequences("kernel_sequences_aten_conv2d", &[("hta_operator_name", "aten::conv2d")]),
];

const fn sequences(file: &'static str, settings: &'static [(&'static str, &'static str)]) -> Check {
    Check {
        file,
        sql: "SELECT coalesce(rank, 0), pattern, calls, gpu_kernel_duration_us, cpu_op_duration_us
              FROM hta_kernel_sequences",
        key: &[0, 1],
        settings,
        ..PLAIN
    }
}
