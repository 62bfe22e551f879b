//! The modules that a page needs, all named in the page itself.
//!
//! A browser learns what a module imports only when it has read it, and would wait once for each
//! level of modules.

use std::collections::BTreeSet;

/// `page` with a link to each module that its script needs, before that script. `file` gives the
/// text at an address.
pub fn preloaded(page: &str, file: impl Fn(&str) -> Option<&'static str>) -> String {
    const SCRIPT: &str = "<script type=\"module\" src=\"";
    let Some((before, after)) = page.split_once(SCRIPT) else { return page.to_owned() };
    let Some((script, _)) = after.split_once('"') else { return page.to_owned() };
    let links: String = needed_by(script, file)
        .into_iter()
        .map(|address| format!("<link rel=\"modulepreload\" href=\"{address}\">\n"))
        .collect();
    format!("{before}{links}{SCRIPT}{after}")
}

/// The addresses of a module and of all that it imports, directly or not.
fn needed_by(module: &str, file: impl Fn(&str) -> Option<&'static str>) -> BTreeSet<String> {
    let (mut known, mut waiting) = (BTreeSet::new(), vec![module.to_owned()]);
    while let Some(address) = waiting.pop() {
        let Some(text) = file(&address) else { continue };
        waiting.extend(imports(text).map(|name| resolved(name, &address)));
        known.insert(address);
        waiting.retain(|address| !known.contains(address));
    }
    known
}

/// What the statements at the start of a module import, as it is written there.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let is_import = ["import ", "export ", "} from "].iter().any(|word| line.starts_with(word));
        let (_, name) = line.split_once(" from \"").or_else(|| line.split_once("import \""))?;
        name.split_once('"').map(|(name, _)| name).filter(|_| is_import)
    })
}

/// The address that a module at the address `base` means by `name`.
fn resolved(name: &str, base: &str) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in name.split('/') {
        match part {
            "." => {}
            // Browsers stay at the root, too.
            ".." if parts.len() > 1 => drop(parts.pop()),
            ".." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(address: &str) -> Option<&'static str> {
        Some(match address {
            "/a/pages/one.js" => {
                "import { x } from \"../parts/x.js\";\nimport {\n  y,\n} from \"./y.js\";\nx(y);\n"
            }
            "/a/parts/x.js" => {
                "export { z } from \"../../b/z.js\";\nconst t = ` from \"./no.js\"`;\n"
            }
            "/a/pages/y.js" => "import \"/a/parts/x.js\";\n// from \"./none.js\"\n",
            "/b/z.js" => "import { y } from \"../a/pages/y.js\";\n",
            _ => return None,
        })
    }

    #[test]
    fn pages_name_each_module_once() {
        let page = "<head>\n<script type=\"module\" src=\"/a/pages/one.js\"></script>\n</head>\n";
        let link = |address| format!("<link rel=\"modulepreload\" href=\"{address}\">\n");
        let links = ["/a/pages/one.js", "/a/pages/y.js", "/a/parts/x.js", "/b/z.js"].map(link);
        assert_eq!(
            preloaded(page, file),
            page.replace("<script", &format!("{}<script", links.concat()))
        );
    }

    #[test]
    fn pages_without_scripts_stay_as_they_are() {
        assert_eq!(preloaded("<head></head>", file), "<head></head>");
    }
}
