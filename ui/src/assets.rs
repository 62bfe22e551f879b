//! The files of the pages. They are part of the program and the same for everybody.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use include_dir::{Dir, include_dir};
use tracesql::web;

use crate::failure::Failure;

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
    answered("page.html", file.map(include_dir::File::contents))
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
        Some("html") => "text/html; charset=utf-8",
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
