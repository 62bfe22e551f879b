//! Splits a frame's text into a function, its file and its first line.

use std::borrow::Cow;

use crate::names::demangle;

/// A function as it is named in profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameName {
    /// Name of the function.
    pub function: String,
    /// Source file; empty if unknown.
    pub file: String,
    /// Line number; 0 if unknown.
    pub line: i64,
}

/// Separates the name from the file in a frame that includes a file.
pub const FILE: char = '\u{1f}';

impl FrameName {
    /// Parses a frame: `path/file.py(12): function` from Python, a name and a file separated by
    /// [`FILE`], or a mangled C++ name. Any other text is used as the name as a whole.
    ///
    /// The name of a Python function includes its module, as in `torch.nn.modules.linear.forward`.
    /// Viewers sum functions with the same name, and half of all Python functions in a training run
    /// are called `forward`.
    pub fn of(frame: &str) -> Self {
        if let Some((name, file)) = frame.rsplit_once(FILE) {
            return Self { function: name.to_owned(), file: file.to_owned(), line: 0 };
        }
        let whole = || {
            let name = if frame.is_empty() { "(empty)" } else { frame };
            let function = demangle(frame).unwrap_or_else(|| without_address(name).into_owned());
            Self { function, file: String::new(), line: 0 }
        };
        python(frame).unwrap_or_else(whole)
    }
}

/// Removes the addresses of objects (` at 0x7f…`), which differ between runs, from a frame.
pub fn without_address(frame: &str) -> Cow<'_, str> {
    const ADDRESS: &str = " at 0x";
    let (mut kept, mut rest) = (String::new(), frame);
    while let Some((before, after)) = rest.split_once(ADDRESS) {
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            break;
        }
        kept.push_str(before);
        rest = &after[digits..];
    }
    if rest.len() == frame.len() { Cow::Borrowed(frame) } else { Cow::Owned(kept + rest) }
}

fn python(frame: &str) -> Option<FrameName> {
    let (place, function) = frame.split_once("): ")?;
    let (file, line) = place.rsplit_once('(')?;
    let line: i64 = line.bytes().all(|b| b.is_ascii_digit()).then(|| line.parse().ok())??;
    let function = match module(file) {
        module if module.is_empty() => function.to_owned(),
        module => format!("{module}.{function}"),
    };
    Some(FrameName { function, file: file.to_owned(), line })
}

/// Returns the module of a file: the path below the package folder, with its parts joined by `.`.
fn module(file: &str) -> String {
    if let Some(inner) = file.strip_prefix('<').and_then(|f| f.strip_suffix('>')) {
        return inner.strip_prefix("frozen ").unwrap_or(inner).to_owned();
    }
    let path = file.replace('\\', "/");
    let below = ["site-packages/", "dist-packages/"]
        .iter()
        .find_map(|folder| path.rsplit_once(folder))
        .map(|(_, below)| below);
    let below = below.or_else(|| standard_library(&path));
    let below = match below {
        Some(below) => below,
        // An absolute path contains the location of the file, not the name of its module.
        None if path.starts_with('/') || path.get(1..3) == Some(":/") => {
            path.rsplit('/').next().unwrap_or(&path)
        }
        None => &path,
    };
    let module = below.strip_suffix(".py").unwrap_or(below);
    module.strip_suffix("/__init__").unwrap_or(module).trim_start_matches("./").replace('/', ".")
}

/// Returns the path after `/lib/python3.11/`.
fn standard_library(path: &str) -> Option<&str> {
    let (_, below) = path.rsplit_once("/lib/python")?;
    below.split_once('/').map(|(_, below)| below)
}

#[cfg(test)]
mod tests {
    use super::FrameName;

    fn name(frame: &str) -> (String, String, i64) {
        let name = FrameName::of(frame);
        (name.function, name.file, name.line)
    }

    #[test]
    fn a_python_frame_gives_module_file_and_line() {
        let expect = |frame: &str, function: &str, file: &str, line: i64| {
            assert_eq!(name(frame), (function.to_owned(), file.to_owned(), line))
        };
        expect(
            "torch/nn/modules/linear.py(114): forward",
            "torch.nn.modules.linear.forward",
            "torch/nn/modules/linear.py",
            114,
        );
        expect("/home/me/train.py(7): <module>", "train.<module>", "/home/me/train.py", 7);
        expect(
            "/usr/lib/python3.11/threading.py(1): run",
            "threading.run",
            "/usr/lib/python3.11/threading.py",
            1,
        );
        let file = "/opt/lib/python3.11/site-packages/torch/__init__.py";
        expect(&format!("{file}(3): f"), "torch.f", file, 3);
        expect("<frozen runpy>(88): _run_code", "runpy._run_code", "<frozen runpy>", 88);
        expect(
            "C:\\lib\\site-packages\\a\\b.py(5): g",
            "a.b.g",
            "C:\\lib\\site-packages\\a\\b.py",
            5,
        );
    }

    #[test]
    fn a_frame_of_no_known_form_is_a_name() {
        for frame in [
            "aten::mm",
            "nn.Module: Linear_0",
            "<built-in method f of object>",
            "f(x): y",
            "f(): y",
            "void k<int>(int)",
        ] {
            assert_eq!(name(frame), (frame.to_owned(), String::new(), 0));
        }
        assert_eq!(name("<method f at 0x7fA1> of X at 0x>").0, "<method f> of X at 0x>");
        assert_eq!(name("<f at 0x1> < at 0x2> at 0x").0, "<f> <> at 0x");
        // The time is linear, even with a million addresses in one name.
        assert_eq!(name(&"x at 0x0".repeat(1_000_000)).0, "x".repeat(1_000_000));
        assert_eq!(name("").0, "(empty)");
        assert_eq!(name("_Z4gemmIfEvPT_").0, "void gemm<float>(float*)");
    }
}
