//! The class of an event, derived from its category. The categories of all PyTorch versions are
//! known.

/// The class of an event. Classes distinguish only the kinds of events that matter for nesting and
/// linking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Any other event.
    Other = 0,
    /// A framework operator on the host.
    Op,
    /// A `ProfilerStep#N` annotation on the host.
    Step,
    /// A runtime or driver call that may launch device work.
    Launch,
    /// A call that launches an entire graph.
    GraphLaunch,
    /// A kernel on a device.
    Kernel,
    /// A copy on a device.
    Memcpy,
    /// A fill on a device.
    Memset,
    /// A wait on a device stream.
    Sync,
    /// A user annotation on a device.
    DeviceAnnotation,
    /// A call of an `nn.Module`.
    Module,
    /// An allocation or a free (`[memory]`).
    Memory,
    /// Work on a device that may enclose other work, such as an operator of a compiled program.
    Operation,
}

impl Class {
    /// Determines the class of an event from its category, name and phase.
    pub fn of(cat: &[u8], name: &[u8], ph: u8) -> Self {
        match cat {
            b"cpu_op" | b"Operator" | b"operator" | b"user_annotation" if is_step(name) => {
                Self::Step
            }
            b"cpu_op" | b"Operator" | b"operator" => Self::Op,
            b"kernel" | b"Kernel" => Self::Kernel,
            b"mtia_ccp_events" => Self::mtia(name),
            b"gpu_memcpy" | b"Memcpy" | b"memcpy" => Self::Memcpy,
            b"gpu_memset" | b"Memset" | b"memset" => Self::Memset,
            b"cuda_sync" => Self::Sync,
            b"gpu_user_annotation" => Self::DeviceAnnotation,
            b"python_function" if name.starts_with(b"nn.Module: ") => Self::Module,
            b"Runtime" | b"runtime" => Self::launch(name),
            _ if cat.ends_with(b"_runtime") || cat.ends_with(b"_driver") => Self::launch(name),
            _ if ph == b'i' && name == b"[memory]" => Self::Memory,
            _ => Self::Other,
        }
    }

    /// Determines the class of work on MTIA, which has one category for all work of its command
    /// processors. The names of commands are fixed, and any other name is a kernel.
    fn mtia(name: &[u8]) -> Self {
        match name {
            b"dma_request" => Self::Memcpy,
            b"event_wait" | b"event_record" => Self::Sync,
            _ => Self::Kernel,
        }
    }

    fn launch(name: &[u8]) -> Self {
        if name.windows(11).any(|w| w == b"GraphLaunch") { Self::GraphLaunch } else { Self::Launch }
    }

    /// Whether the event is work or a wait on a device, and thus a row of `kernels`.
    #[inline]
    pub fn is_device(self) -> bool {
        matches!(self, Self::Kernel | Self::Memcpy | Self::Memset | Self::Sync | Self::Operation)
    }

    /// Whether the event can be a parent. Device work cannot, because it does not cause other work
    /// that runs on its stream at the same time.
    #[inline]
    pub fn encloses(self) -> bool {
        !matches!(self, Self::Kernel | Self::Memcpy | Self::Memset)
    }

    /// Whether the event may launch device work.
    #[inline]
    pub fn is_launch(self) -> bool {
        matches!(self, Self::Launch | Self::GraphLaunch)
    }

    /// Converts [`Self::code`] back to a class.
    pub fn from_code(code: u8) -> Self {
        const ALL: [Class; 13] = [
            Class::Other,
            Class::Op,
            Class::Step,
            Class::Launch,
            Class::GraphLaunch,
            Class::Kernel,
            Class::Memcpy,
            Class::Memset,
            Class::Sync,
            Class::DeviceAnnotation,
            Class::Module,
            Class::Memory,
            Class::Operation,
        ];
        ALL.get(code as usize).copied().unwrap_or(Class::Other)
    }

    /// Returns a stable number, for compact records.
    pub fn code(self) -> u8 {
        self as u8
    }
}

fn is_step(name: &[u8]) -> bool {
    step_number(name).is_some()
}

/// Parses the N of `ProfilerStep#N` or `ProfilerStep #N`.
pub fn step_number(name: &[u8]) -> Option<i64> {
    let rest = name.strip_prefix(b"ProfilerStep")?;
    let digits = rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"#")?;
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    crate::json::int(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_of_all_versions_have_their_class() {
        assert_eq!(Class::of(b"Operator", b"aten::mm", b'X'), Class::Op);
        assert_eq!(Class::of(b"hip_runtime", b"hipGraphLaunch", b'X'), Class::GraphLaunch);
        assert_eq!(Class::of(b"Runtime", b"cudaLaunchKernel", b'X'), Class::Launch);
        assert_eq!(Class::of(b"user_annotation", b"ProfilerStep #1", b'X'), Class::Step);
        assert_eq!(Class::of(b"user_annotation", b"ProfilerStep#x", b'X'), Class::Other);
        assert_eq!(Class::of(b"", b"[memory]", b'i'), Class::Memory);
        assert_eq!(Class::of(b"mtia_ccp_events", b"fc-dtype_Float", b'X'), Class::Kernel);
        assert_eq!(Class::of(b"mtia_ccp_events", b"dma_request", b'X'), Class::Memcpy);
        assert_eq!(Class::of(b"mtia_ccp_events", b"event_wait", b'X'), Class::Sync);
        for code in 0..13 {
            assert_eq!(Class::from_code(code).code(), code);
        }
    }
}
