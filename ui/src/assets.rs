//! The files of the pages. They are part of the program and the same for everybody.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse, Response};
use include_dir::{Dir, include_dir};
use tracesql::web;

use crate::failure::Failure;
use crate::modules::preloaded;

static FILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/assets");

/// The pages, by their addresses.
pub const PAGES: &[(&str, &str)] = &[
    ("/", "start"),
    ("/sql", "sql"),
    ("/views", "views"),
    ("/timeline", "timeline"),
    ("/stacks", "stacks"),
    ("/compare", "compare"),
    ("/report", "report"),
];

/// A page.
pub fn page(name: &str) -> Response {
    let file = FILES.get_file(format!("pages/{name}.html"));
    let Some(text) = file.and_then(include_dir::File::contents_utf8) else {
        return not_found().into_response();
    };
    Html(preloaded(text, module)).into_response()
}

/// The text of the module at an address.
fn module(address: &str) -> Option<&'static str> {
    let at = |folder: &str| address.strip_prefix(folder);
    let content = if let Some(path) = at("/assets/ui/") {
        FILES.get_file(format!("ui/{path}")).map(include_dir::File::contents)
    } else if let Some(path) = at("/assets/report/") {
        web::report_file(path)
    } else {
        web::shared_file(at("/assets/web/").or_else(|| at("/web/"))?)
    };
    std::str::from_utf8(content?).ok()
}

/// A file of these pages.
pub async fn own(Path(path): Path<String>) -> Response {
    answered(&path, FILES.get_file(format!("ui/{path}")).map(include_dir::File::contents))
}

/// A file that all pages share.
pub async fn shared(Path(path): Path<String>) -> Response {
    answered(&path, web::shared_file(&path))
}

/// A file of the report's page.
pub async fn of_report(Path(path): Path<String>) -> Response {
    answered(&path, web::report_file(&path))
}

fn answered(path: &str, content: Option<&'static [u8]>) -> Response {
    let kind = match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => return not_found().into_response(),
    };
    match content {
        Some(content) => ([(CONTENT_TYPE, kind)], content).into_response(),
        None => not_found().into_response(),
    }
}

/// What has no address is answered with.
pub fn not_found() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "there is nothing at this address")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each import of each page's modules is a module of the program that the page names.
    #[test]
    fn the_modules_of_all_pages_are_found() {
        for (_, name) in PAGES {
            let file = FILES.get_file(format!("pages/{name}.html"));
            let text = file.and_then(include_dir::File::contents_utf8).expect("a page");
            let page = preloaded(text, |address| {
                let found = module(address);
                assert!(found.is_some(), "{name}: there is no {address}");
                found
            });
            assert!(page.matches("modulepreload").count() > 10, "{page}");
        }
    }
}
