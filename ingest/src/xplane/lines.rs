//! What a plane and a line stand for.

use crate::trace::Class;

/// What a plane stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneKind {
    /// Threads of the host.
    Host,
    /// A GPU and its number.
    Gpu(i64),
    /// A TPU and its number.
    Tpu(i64),
    /// Programs and versions.
    Metadata,
    /// Start and options of the profile.
    Environment,
    /// Anything else.
    Other,
}

impl PlaneKind {
    /// Determines the kind of a plane by its name.
    pub fn of(name: &str) -> Self {
        let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<u32>().ok().map(i64::from);
        match name {
            "/host:metadata" => Self::Metadata,
            "Task Environment" => Self::Environment,
            _ if name.starts_with("/host:") => Self::Host,
            _ => match (number("/device:GPU:"), number("/device:TPU:")) {
                (Some(no), _) => Self::Gpu(no),
                (_, Some(no)) => Self::Tpu(no),
                _ => Self::Other,
            },
        }
    }

    /// Returns the number of the device.
    pub fn device(self) -> Option<i64> {
        match self {
            Self::Gpu(no) | Self::Tpu(no) => Some(no),
            _ => None,
        }
    }
}

/// What a line stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineKind {
    /// A thread.
    Thread,
    /// A stream of a GPU, with its number if it has one.
    Stream(Option<i64>),
    /// The operators that a TPU runs.
    Operators,
    /// The runs of programs.
    Modules,
    /// The steps of a device.
    Steps,
    /// Values of counters.
    Counters,
    /// Other events, and what tools derived from events. Holds the category.
    Other(String),
}

impl LineKind {
    /// Determines the kind of a line.
    pub fn of(plane: PlaneKind, line: &str) -> Self {
        let lower = line.to_ascii_lowercase();
        match plane {
            _ if line == "_counters_" || line.starts_with("counters_") => Self::Counters,
            PlaneKind::Host => Self::Thread,
            PlaneKind::Gpu(_) if lower.starts_with("stream #") => {
                let digits = lower["stream #".len()..]
                    .split(|c: char| !c.is_ascii_digit())
                    .next()
                    .unwrap_or_default();
                // The profiler writes the largest number for no stream.
                let number: Option<i64> = digits.parse().ok();
                Self::Stream(number.filter(|number| *number != i64::from(u32::MAX)))
            }
            PlaneKind::Tpu(_) if line == "XLA Ops" => Self::Operators,
            PlaneKind::Gpu(_) | PlaneKind::Tpu(_) if line == "XLA Modules" => Self::Modules,
            PlaneKind::Gpu(_) | PlaneKind::Tpu(_) if line == "Steps" => Self::Steps,
            _ => Self::Other(lower.replace(' ', "_")),
        }
    }

    /// Returns the value of `tracks.kind` where the rows of the line do not tell it.
    pub fn track_kind(&self) -> Option<&'static str> {
        match self {
            Self::Stream(_) | Self::Operators => Some("gpu_stream"),
            Self::Modules | Self::Steps | Self::Other(_) => Some("span"),
            Self::Thread | Self::Counters => None,
        }
    }
}

/// Operators that enclose the operators of their body. Their time is not work of their own.
pub fn is_control_flow(hlo_category: &str) -> bool {
    matches!(hlo_category, "while" | "conditional" | "call")
}

/// Whether operators of this category start a copy that runs beside other work, or wait for its end.
pub fn is_copy(category: &str) -> bool {
    matches!(category, "copy-start" | "copy-done")
}

/// Determines the class and category of work on a stream of a GPU.
pub fn of_stream(
    name: &str,
    has_kernel: bool,
    has_copy: bool,
    has_fill: bool,
) -> (Class, &'static str) {
    let is_copy = || name.starts_with("Memcpy") || name.starts_with("Copy");
    match (has_kernel, has_copy, has_fill) {
        (true, ..) => (Class::Kernel, "kernel"),
        (_, true, _) => (Class::Memcpy, "gpu_memcpy"),
        (_, _, true) => (Class::Memset, "gpu_memset"),
        _ if is_copy() => (Class::Memcpy, "gpu_memcpy"),
        _ if name.starts_with("Memset") => (Class::Memset, "gpu_memset"),
        _ => (Class::Kernel, "kernel"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_and_lines_have_their_kind() {
        assert_eq!(PlaneKind::of("/device:GPU:12"), PlaneKind::Gpu(12));
        assert_eq!(PlaneKind::of("/device:TPU:3"), PlaneKind::Tpu(3));
        assert_eq!(PlaneKind::of("/device:TPU:3 SparseCore 1"), PlaneKind::Other);
        assert_eq!(PlaneKind::of("/host:CPU"), PlaneKind::Host);
        let gpu = PlaneKind::Gpu(0);
        assert_eq!(LineKind::of(gpu, "Stream #8(MemcpyOther)"), LineKind::Stream(Some(8)));
        assert_eq!(LineKind::of(gpu, "stream #x"), LineKind::Stream(None));
        assert_eq!(LineKind::of(gpu, "Stream #4294967295"), LineKind::Stream(None));
        assert_eq!(LineKind::of(gpu, "XLA Ops"), LineKind::Other("xla_ops".into()));
        assert_eq!(LineKind::of(PlaneKind::Tpu(0), "XLA Ops"), LineKind::Operators);
        assert_eq!(LineKind::of(PlaneKind::Host, "python"), LineKind::Thread);
        assert_eq!(LineKind::of(PlaneKind::Other, "_counters_"), LineKind::Counters);
    }

    #[test]
    fn work_has_the_class_of_its_details() {
        let class =
            |name, details: (bool, bool, bool)| of_stream(name, details.0, details.1, details.2).0;
        assert_eq!(class("CopyDeviceToDevice", (false, true, false)), Class::Memcpy);
        assert_eq!(class("copy_kernel", (true, false, false)), Class::Kernel);
        assert_eq!(class("MemcpyD2H", (false, false, false)), Class::Memcpy);
        assert_eq!(class("fusion_1", (false, false, false)), Class::Kernel);
    }
}
