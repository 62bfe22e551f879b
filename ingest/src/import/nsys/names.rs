//! Names as Kineto writes them, from NVIDIA's numbers and function names.

/// Returns the name of a function without the version that ends it (`_v3020`).
pub fn plain_name(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((plain, digits))
            if digits.len() >= 4 && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            plain
        }
        _ => name,
    }
}

/// Returns what a call waits for, as Kineto names it. The stored type of a wait is not used: its
/// numbers changed with the versions of the exporter.
pub fn wait_of(function: &str) -> Option<&'static str> {
    let function = plain_name(function);
    let function = function.strip_suffix("_ptsz").unwrap_or(function);
    match function {
        "cudaStreamSynchronize" | "cuStreamSynchronize" => Some("Stream Sync"),
        "cudaDeviceSynchronize" | "cuCtxSynchronize" | "cudaThreadSynchronize" => {
            Some("Context Sync")
        }
        "cudaEventSynchronize" | "cuEventSynchronize" => Some("Event Sync"),
        "cudaStreamWaitEvent" | "cuStreamWaitEvent" => Some("Stream Wait Event"),
        _ => None,
    }
}

/// Returns the direction of a copy.
pub fn copy_kind(kind: Option<i64>) -> &'static str {
    match kind {
        Some(1) => "HtoD",
        Some(2) => "DtoH",
        Some(3) => "HtoA",
        Some(4) => "AtoH",
        Some(5) => "AtoA",
        Some(6) => "AtoD",
        Some(7) => "DtoA",
        Some(8) => "DtoD",
        Some(9) => "HtoH",
        Some(10) => "PtoP",
        Some(11) => "Unified HtoD",
        Some(12) => "Unified DtoH",
        Some(13) => "Unified DtoD",
        _ => "Unknown",
    }
}

/// Whether a copy moves pages of unified memory, which no call asks for.
pub fn is_unified(kind: Option<i64>) -> bool {
    matches!(kind, Some(11..=13))
}

/// Returns the kind of memory.
pub fn memory_kind(kind: Option<i64>) -> &'static str {
    match kind {
        Some(0) => "Pageable",
        Some(1) => "Pinned",
        Some(2) => "Device",
        Some(3) => "Array",
        Some(4) => "Managed",
        Some(5) => "Device Static",
        Some(6) => "Managed Static",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_functions_are_no_part_of_names() {
        for (name, plain) in [
            ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
            ("cudaGetDeviceProperties_v2_v12000", "cudaGetDeviceProperties_v2"),
            ("cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel_ptsz"),
            ("cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2"),
            ("_v1000", ""),
            ("x_v", "x_v"),
        ] {
            assert_eq!(plain_name(name), plain);
        }
        assert_eq!(wait_of("cudaStreamSynchronize_v3020"), Some("Stream Sync"));
        assert_eq!(wait_of("cudaEventQuery_v3020"), None);
    }
}
