//! The meaning and the colours of frames. The report page draws its flame graph in the same
//! colours.

use super::tree::Node;
use crate::frames::{ANY_STEP, Frames};

/// What a frame is: its name in the legend, and its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// Position in the legend.
    pub place: usize,
    /// Name in the legend.
    pub name: &'static str,
    /// The colour, as `#rrggbb`.
    pub colour: &'static str,
}

const KINDS: [(&str, &str); 8] = [
    ("thread", "#c3cad6"),
    ("annotation", "#f2b3bd"),
    ("Python", "#f0cf7a"),
    ("module", "#a9c4f5"),
    ("operator", "#9ed3b4"),
    ("runtime call", "#f2b48c"),
    ("other", "#dcdfe5"),
    ("work of a device", "#cdb6f0"),
];
const THREAD: usize = 0;
const ANNOTATION: usize = 1;
const PYTHON: usize = 2;
const MODULE: usize = 3;
const OPERATOR: usize = 4;
const CALL: usize = 5;
const OTHER: usize = 6;
const DEVICE: usize = 7;

/// Classes of device work. The colours are those of the pages (`web/styles/colours.css`), mixed
/// with 45 % white as on the report page, so that dark text is readable on them.
const CLASSES: [(&str, &str); 23] = [
    ("gemm", "#94b0eb"),
    ("conv", "#889cca"),
    ("attention", "#7bc7cf"),
    ("moe_routing", "#aed5f3"),
    ("normalization", "#8dcaa9"),
    ("softmax", "#c4df9c"),
    ("elementwise", "#ead48b"),
    ("reduction", "#c9b67e"),
    ("copy_layout", "#d8ccf0"),
    ("embedding", "#a5aed6"),
    ("optimizer", "#e69ba5"),
    ("quantize", "#cfa78a"),
    ("sort_scan", "#b4bd93"),
    ("sampling", "#f2c3d1"),
    ("rng", "#c4a2b6"),
    ("recurrent_ssm", "#82adb9"),
    ("fft", "#a9cec0"),
    ("other_compute", "#bbc6d8"),
    ("unclassified", "#aeb2bb"),
    ("memset", "#dda7cf"),
    ("communication", "#eeb993"),
    ("memcpy", "#c0a9e6"),
    ("mixed", "#d0d3d9"),
];

/// Namespaces that frameworks give to operators.
const OPERATOR_NAMESPACES: [&str; 13] = [
    "aten", "c10", "c10d", "torch", "prims", "nccl", "autograd", "detectron", "mkldnn",
    "quantized", "vllm", "triton", "_C",
];
/// Beginnings of the names of calls that drive a device.
const CALLS: [&str; 4] = ["cuda", "hip", "zeCommand", "Runtime"];
/// Beginnings of annotations: steps, optimizers, loaders, and marks of users.
const ANNOTATIONS: [&str; 6] = ["ProfilerStep", "Optimizer", "enumerate", "[", "## ", "iteration"];

impl Kind {
    fn host(place: usize) -> Self {
        let (name, colour) = KINDS[place];
        Self { place, name, colour }
    }

    /// Returns what a frame is. Kernels are known from the trace, all other frames by their names,
    /// with the rules of the report page. A frame that calls others is host code, even if a kernel
    /// has the same name.
    pub fn of(node: &Node, names: &Frames) -> Self {
        let frame = node.frame.as_str();
        if node.is_leaf && names.is_kernel(frame) {
            let class = names.class(frame);
            return match CLASSES.iter().position(|&(name, _)| class == Some(name)) {
                Some(at) => {
                    let (name, colour) = CLASSES[at];
                    Self { place: KINDS.len() + at, name, colour }
                }
                None => Self::host(DEVICE),
            };
        }
        Self::host(if frame.starts_with('(') || node.depth == 0 {
            OTHER
        } else if names.by_thread && node.depth == 1 {
            THREAD
        } else if is_operator(frame) {
            OPERATOR
        } else if frame.starts_with("nn.Module") {
            MODULE
        } else if is_call(frame) {
            CALL
        } else if is_python(frame) {
            PYTHON
        } else if frame == ANY_STEP || ANNOTATIONS.iter().any(|start| frame.starts_with(start)) {
            ANNOTATION
        } else {
            OPERATOR
        })
    }

    /// Whether the legend lists this kind among the work of devices.
    pub fn is_device_work(self) -> bool {
        self.place >= DEVICE
    }
}

fn is_operator(frame: &str) -> bool {
    let namespace = frame.split_once("::").map(|(namespace, _)| namespace);
    let is_known = |namespace: &str| {
        OPERATOR_NAMESPACES.contains(&namespace)
            || namespace
                .strip_prefix("_C")
                .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    };
    namespace.is_some_and(is_known)
        || frame.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with("Backward")
}

fn is_call(frame: &str) -> bool {
    let is_driver_call = frame
        .strip_prefix("cu")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    is_driver_call || CALLS.iter().any(|start| frame.starts_with(start))
}

fn is_python(frame: &str) -> bool {
    frame.contains(".py")
        || frame.contains("<frozen")
        || frame.starts_with("<built-in")
        || frame.starts_with("<string>")
}

/// How much a frame grew or shrank, with its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Text in the legend.
    pub name: &'static str,
    /// The colour, as `#rrggbb`.
    pub colour: &'static str,
}

/// Changes from less to more, as they are in the legend. The last one is for frames without a base.
pub const CHANGES: [Change; 8] = [
    Change { name: "less than -30 %", colour: "#7fa9ee" },
    Change { name: "to -10 %", colour: "#a9c4f5" },
    Change { name: "to -2 %", colour: "#d3e1fa" },
    Change { name: "to +2 %", colour: "#e4e7ec" },
    Change { name: "to +10 %", colour: "#fbdcd6" },
    Change { name: "to +30 %", colour: "#f6b3a8" },
    Change { name: "more", colour: "#ee8a7b" },
    Change { name: "not in the base", colour: "#d99bd0" },
];
/// What follows each change: a change is below this percentage.
const ENDS_PCT: [f64; 6] = [-30.0, -10.0, -2.0, 2.0, 10.0, 30.0];

impl Change {
    /// Returns the change of a frame from the base.
    pub fn of(node: &Node) -> Self {
        if node.base == 0 {
            return CHANGES[CHANGES.len() - 1];
        }
        let pct = (node.value as f64 - node.base as f64) / node.base as f64 * 100.0;
        CHANGES[ENDS_PCT.iter().filter(|&&end| pct >= end).count()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{FrameOptions, Kernel};

    fn node(frame: &str, depth: usize, value: i64, base: i64) -> Node {
        Node { frame: frame.to_owned(), depth, left: 0, value, base, is_leaf: true }
    }

    #[test]
    fn a_frame_is_known_by_its_name() {
        let kernel = |name: &str, class: &str| Kernel {
            name: name.to_owned(),
            class: Some(class.to_owned()),
        };
        let options = FrameOptions { full_names: false, by_thread: true };
        let names =
            Frames::new(vec![kernel("sgemm", "gemm"), kernel("odd", "of a user")], [], options);
        let kind = |frame: &str| Kind::of(&node(frame, 2, 1, 0), &names).name;
        for (frame, want) in [
            ("aten::mm", "operator"),
            ("MmBackward0", "operator"),
            ("_C_custom_ar::x", "operator"),
            ("nn.Module: Linear_0", "module"),
            ("cudaLaunchKernel", "runtime call"),
            ("cuLaunchKernel", "runtime call"),
            ("culprit", "operator"),
            ("train.py(7): main", "Python"),
            ("<built-in method f>", "Python"),
            ("ProfilerStep*", "annotation"),
            ("[pl][profile]x", "annotation"),
            ("(launch not in trace)", "other"),
            ("sgemm", "gemm"),
            ("odd", "work of a device"),
        ] {
            assert_eq!(kind(frame), want, "{frame}");
        }
        let host = Node { is_leaf: false, ..node("sgemm", 2, 1, 0) };
        assert_eq!(Kind::of(&host, &names).name, "operator");
        assert_eq!(Kind::of(&node("aten::mm", 1, 1, 0), &names).name, "thread");
        assert_eq!(Kind::of(&node("", 0, 1, 0), &names).name, "other");
    }

    #[test]
    fn a_change_has_the_colour_of_its_direction() {
        let name = |base, value| Change::of(&node("f", 1, value, base)).name;
        assert_eq!(name(0, 5), "not in the base");
        assert_eq!((name(100, 101), name(100, 98)), ("to +2 %", "to +2 %"));
        assert_eq!((name(100, 102), name(100, 97)), ("to +10 %", "to -2 %"));
        assert_eq!((name(100, 130), name(100, 129)), ("more", "to +30 %"));
        assert_eq!((name(100, 400), name(100, 0)), ("more", "less than -30 %"));
    }

    /// The contrast of two colours by the rules of WCAG 2.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour: &str| {
            let part = |at: usize| {
                let value = u8::from_str_radix(&colour[at..at + 2], 16).expect("hex");
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The colour of all texts.
    const INK: &str = "#1b2130";

    #[test]
    fn texts_are_readable_on_every_colour() {
        assert!(super::super::svg::STYLE.contains(INK));
        let changes = CHANGES.iter().map(|change| (change.name, change.colour));
        for (name, colour) in KINDS.into_iter().chain(CLASSES).chain(changes) {
            let found = contrast(colour, INK);
            assert!(found >= 4.5, "{name}: {colour} has a contrast of {found:.1}");
        }
    }
}
