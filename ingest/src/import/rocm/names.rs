//! Names and units of AMD's tools, as Kineto writes them.

use crate::trace::Class;

/// The number of the type of AMD's devices in PyTorch.
pub const HIP: i64 = 6;

/// Returns the name of a copy from the text of its operation (`MEMORY_COPY_HOST_TO_DEVICE`,
/// `HOST_TO_DEVICE`).
pub fn copy_name(operation: &str) -> String {
    let plain = operation.strip_prefix("MEMORY_COPY_").unwrap_or(operation);
    match plain {
        "HOST_TO_DEVICE" => "Memcpy HtoD (Host -> Device)".to_owned(),
        "DEVICE_TO_HOST" => "Memcpy DtoH (Device -> Host)".to_owned(),
        "DEVICE_TO_DEVICE" => "Memcpy DtoD (Device -> Device)".to_owned(),
        "HOST_TO_HOST" => "Memcpy HtoH (Host -> Host)".to_owned(),
        other => format!("Memcpy {other}"),
    }
}

/// Returns the number of blocks that a number of work-items needs. AMD's tools state the size of a
/// grid in work-items.
pub fn blocks(items: i64, block: i64) -> i64 {
    if block > 0 && items > 0 { (items - 1) / block + 1 } else { items }
}

/// Returns the category of a call on the host and its class, by the text of its kind and by its
/// name. Calls of HIP have the category that Kineto gives them.
pub fn host_call(kind: &str, name: &str) -> (&'static str, Class) {
    let kind = kind.to_ascii_uppercase();
    let has = |word: &str| kind.contains(word);
    if has("MARKER") || has("ROCTX") {
        return ("user_annotation", Class::Op);
    }
    let launch = Class::of(b"cuda_runtime", name.as_bytes(), b'X');
    if has("HIP") {
        ("cuda_runtime", launch)
    } else if has("HSA") {
        ("hsa_api", launch)
    } else if has("RCCL") {
        ("rccl_api", launch)
    } else if has("SCRATCH") {
        ("scratch_memory", Class::Other)
    } else {
        ("host_api", launch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_items_become_blocks() {
        assert_eq!(blocks(16_384, 256), 64);
        assert_eq!(blocks(16_385, 256), 65);
        assert_eq!(blocks(1, 256), 1);
        assert_eq!(blocks(0, 256), 0);
        assert_eq!(blocks(7, 0), 7);
        assert_eq!(blocks(i64::MAX, 1), i64::MAX);
    }

    #[test]
    fn copies_have_the_names_of_kineto() {
        assert_eq!(copy_name("MEMORY_COPY_HOST_TO_DEVICE"), "Memcpy HtoD (Host -> Device)");
        assert_eq!(copy_name("DEVICE_TO_HOST"), "Memcpy DtoH (Device -> Host)");
        assert_eq!(copy_name("MEMORY_COPY_NONE"), "Memcpy NONE");
    }
}
