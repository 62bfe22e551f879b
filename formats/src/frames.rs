//! How profiles name frames: one frame for all steps, and short names of kernels.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};

use crate::names::short_name;
use crate::pprof::FILE;

/// The frame that stands for all steps.
pub const ANY_STEP: &str = "ProfilerStep*";

/// Returns [`ANY_STEP`] for the frame of a step (`ProfilerStep#7`), and any other frame unchanged.
pub fn merged_step(frame: &str) -> Cow<'_, str> {
    let (name, file) = match frame.find(FILE) {
        Some(at) => frame.split_at(at),
        None => (frame, ""),
    };
    let digits =
        name.strip_prefix("ProfilerStep").map(|rest| rest.strip_prefix(' ').unwrap_or(rest));
    let is_step = digits
        .and_then(|rest| rest.strip_prefix('#'))
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    match (is_step, file) {
        (false, _) => Cow::Borrowed(frame),
        (true, "") => Cow::Borrowed(ANY_STEP),
        (true, file) => Cow::Owned(format!("{ANY_STEP}{file}")),
    }
}

/// The class of a kernel whose calls have several classes.
pub const MIXED: &str = "mixed";

/// A frame that is work of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The name as it is in the trace.
    pub name: String,
    /// The class of its work, such as `gemm`; `None` if it was not looked up.
    pub class: Option<String>,
}

/// The options for names of frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameOptions {
    /// Whether kernels keep their full names.
    pub full_names: bool,
    /// Whether the first frame of each stack is a thread.
    pub by_thread: bool,
}

/// The names that are shown for the frames of a profile, and their classes.
#[derive(Debug, Clone, Default)]
pub struct Frames {
    kernels: HashMap<String, Shown>,
    /// Whether the first frame of each stack is a thread.
    pub by_thread: bool,
}

#[derive(Debug, Clone)]
struct Shown {
    name: String,
    class: Option<String>,
}

impl Frames {
    /// Chooses the names of kernels. `texts` are all frames of the profile.
    ///
    /// A short name that several kernels share, or that another frame has, is followed by the
    /// CRC-32 of the full name. So it depends on nothing but the name itself, and the same kernel
    /// has the same name in two profiles that both need the suffix.
    pub fn new<'t>(
        mut kernels: Vec<Kernel>,
        texts: impl IntoIterator<Item = &'t str>,
        options: FrameOptions,
    ) -> Self {
        kernels.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        kernels.dedup_by(|again, first| {
            let is_same = again.name == first.name;
            if is_same && again.class != first.class {
                first.class = Some(MIXED.to_owned());
            }
            is_same
        });
        let short: Vec<String> =
            kernels
                .iter()
                .map(|kernel| {
                    if options.full_names { kernel.name.clone() } else { short_name(&kernel.name) }
                })
                .collect();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        short.iter().for_each(|name| *uses.entry(name).or_default() += 1);
        let names: HashSet<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        for text in texts.into_iter().filter(|text| !names.contains(text)) {
            uses.entry(text).and_modify(|count| *count += 1);
        }
        let mut taken = HashSet::new();
        let shown = kernels.iter().zip(&short).map(|(kernel, short)| {
            let is_shared = uses.get(short.as_str()).is_some_and(|&count| count > 1);
            let name = if *short == kernel.name || !is_shared {
                short.clone()
            } else {
                format!("{short} [{:08x}]", crc32(&kernel.name))
            };
            let name = if taken.insert(name.clone()) { name } else { kernel.name.clone() };
            (kernel.name.clone(), Shown { name, class: kernel.class.clone() })
        });
        Self { kernels: shown.collect(), by_thread: options.by_thread }
    }

    /// Returns the name to show for a frame.
    pub fn shown<'a>(&'a self, frame: &'a str) -> &'a str {
        self.kernels.get(frame).map_or(frame, |kernel| &kernel.name)
    }

    /// Whether a frame is work of a device.
    pub fn is_kernel(&self, frame: &str) -> bool {
        self.kernels.contains_key(frame)
    }

    /// Returns the class of a kernel; `None` for other frames and unknown classes.
    pub fn class(&self, frame: &str) -> Option<&str> {
        self.kernels.get(frame)?.class.as_deref()
    }
}

fn crc32(text: &str) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(text.as_bytes());
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_frames_of_steps_are_merged() {
        for step in ["ProfilerStep#7", "ProfilerStep #12", "ProfilerStep#0"] {
            assert_eq!(merged_step(step), ANY_STEP);
        }
        for other in ["ProfilerStep", "ProfilerStep#", "ProfilerStep#x", "MyProfilerStep#1", "step"]
        {
            assert_eq!(merged_step(other), other);
        }
        let with_file = format!("ProfilerStep#7{FILE}user_annotation");
        assert_eq!(merged_step(&with_file), format!("{ANY_STEP}{FILE}user_annotation"));
    }

    fn frames(names: &[&str], texts: &[&str], full_names: bool) -> Frames {
        let kernel = |name: &&str| Kernel { name: (*name).to_owned(), class: None };
        let options = FrameOptions { full_names, by_thread: false };
        Frames::new(names.iter().map(kernel).collect(), texts.iter().copied(), options)
    }

    #[test]
    fn a_kernel_has_its_short_name_and_no_two_kernels_have_the_same() {
        let (add, mul) = ("void at::native::k<4, Add>(int)", "void at::native::k<4, Mul>(int)");
        let (gemm, other) = ("void ns::gemm<float>(float*)", "sgemm");
        let found = frames(&[add, mul, gemm, other], &[add, "aten::mm", other], false);
        assert_eq!(found.shown(add), "at::k [340aef64]");
        assert_eq!(found.shown(mul), "at::k [51c063a2]");
        assert_eq!((found.shown(gemm), found.shown(other)), ("ns::gemm", "sgemm"));
        assert_eq!(found.shown("aten::mm"), "aten::mm");
        assert!(found.is_kernel(add) && !found.is_kernel("aten::mm"));
        assert_eq!(frames(&[add, mul], &[], true).shown(add), add);
    }

    #[test]
    fn a_short_name_that_another_frame_has_is_told_apart() {
        let kernel = "void ns::gemm<float>(float*)";
        assert_eq!(frames(&[kernel], &["ns::gemm"], false).shown(kernel), "ns::gemm [272a89e6]");
        let taken = frames(&[kernel, "ns::gemm"], &[], false);
        assert_eq!(taken.shown("ns::gemm"), "ns::gemm");
        assert_eq!(taken.shown(kernel), "ns::gemm [272a89e6]");
    }
}
