//! Who may ask: checks of every request, and headers of every answer.
//!
//! The server listens on the loopback interface only, but every program and every web page of the
//! machine can reach that. A page of another origin can send requests that the browser calls
//! simple, and a name that its owner points at 127.0.0.1 makes such a page the same origin. So:
//! - `Host` must be a name of this machine with our port, which ends tricks with names;
//! - `Origin` and `Sec-Fetch-Site`, which browsers add and pages cannot change, must be ours; only
//!   a link to a page, which opens it in a tab of its own, may be on a page of another origin;
//! - data needs the token, which only the printed address carries. It is no cookie, because
//!   browsers send cookies to all ports of a host, and on behalf of other pages.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

use crate::address::Address;
use crate::failure::Failure;

/// What is checked.
#[derive(Debug)]
pub struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    token: String,
    policy: HeaderValue,
    is_embedded: bool,
}

impl Guard {
    /// Checks for a server at an address, which may also be asked as `allow_hosts` and shown in
    /// frames of the origin `embed`.
    pub fn new(address: &Address, allow_hosts: Vec<String>, embed: Option<String>) -> Arc<Self> {
        let port = address.port;
        let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        let origins = own.iter().map(|host| format!("http://{host}"));
        // A forwarder has a port and a scheme of its own.
        let forwarded =
            allow_hosts.iter().flat_map(|h| [format!("http://{h}"), format!("https://{h}")]);
        let origins = origins.chain(forwarded).collect();
        Arc::new(Self {
            hosts: own.into_iter().chain(allow_hosts).collect(),
            origins,
            token: address.token.clone(),
            policy: policy(embed.as_deref()),
            is_embedded: embed.is_some(),
        })
    }

    fn check(&self, request: &Request) -> Result<(), Failure> {
        let headers = request.headers();
        let host = one(headers, &HOST)?.unwrap_or_default();
        if !self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)) {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                "this server answers on its own address only; --allow-host NAME allows another \
                 name, such as that of a forwarder",
            ));
        }
        if let Some(origin) = one(headers, &ORIGIN)?
            && !self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin))
        {
            return Err(Failure::new(StatusCode::FORBIDDEN, "requests of other pages are refused"));
        }
        let site = one(headers, &HeaderName::from_static("sec-fetch-site"))?;
        let is_data = request.uri().path().starts_with("/api");
        let is_shown = !is_data && (self.is_embedded || is_link(request)?);
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) && !is_shown {
            return Err(Failure::new(StatusCode::FORBIDDEN, "requests of other pages are refused"));
        }
        match *request.method() {
            Method::GET | Method::HEAD => {}
            Method::POST => {
                let kind = one(headers, &CONTENT_TYPE)?.unwrap_or_default();
                if kind.split(';').next().map(str::trim) != Some("application/json") {
                    return Err(Failure::new(
                        StatusCode::UNSUPPORTED_MEDIA_TYPE,
                        "the body must be application/json",
                    ));
                }
            }
            _ => {
                return Err(Failure::new(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "only GET and POST are answered",
                ));
            }
        }
        if is_data {
            let given = one(headers, &AUTHORIZATION)?.and_then(|v| v.strip_prefix("Bearer "));
            if !given.is_some_and(|given| are_equal(given, &self.token)) {
                return Err(Failure::new(
                    StatusCode::UNAUTHORIZED,
                    "the token is missing or wrong; open the address that `tracesql ui` printed",
                ));
            }
        }
        Ok(())
    }
}

/// Whether a user follows a link to a page, such as that of a notebook, which opens it in a tab of
/// its own. The page that has the link gets nothing of it.
fn is_link(request: &Request) -> Result<bool, Failure> {
    let headers = request.headers();
    let mode = one(headers, &HeaderName::from_static("sec-fetch-mode"))?;
    let target = one(headers, &HeaderName::from_static("sec-fetch-dest"))?;
    Ok(request.method() == Method::GET && mode == Some("navigate") && target == Some("document"))
}

/// The value of a header that may be there once.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Failure> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    let text = first.map(HeaderValue::to_str).transpose();
    match (text, values.next()) {
        (Ok(text), None) => Ok(text),
        _ => Err(Failure::new(StatusCode::BAD_REQUEST, format!("the header {name} is not valid"))),
    }
}

/// Compares in a time that does not tell where the texts differ.
fn are_equal(given: &str, token: &str) -> bool {
    let (given, token) = (given.as_bytes(), token.as_bytes());
    given.len() == token.len() && given.iter().zip(token).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

fn policy(embed: Option<&str>) -> HeaderValue {
    let ancestors = embed.unwrap_or("'none'");
    let text = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self' data: blob:; worker-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors {ancestors}; require-trusted-types-for 'script'"
    );
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// Checks a request before anything else sees it, and adds headers to whatever is answered.
pub async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let is_data = request.uri().path().starts_with("/api");
    let is_foreign = is_foreign(request.headers());
    let mut response = match guard.check(&request) {
        Ok(()) => next.run(request).await,
        Err(failure) => failure.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, guard.policy.clone());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // `same-origin` would cut the line to the page of another tool that a user opens from here.
    headers
        .insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin-allow-popups"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    let kept = if is_data { "no-store" } else { "no-cache" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    if is_foreign {
        // A page can read this header of itself: it then runs no SQL of its address.
        headers.insert("server-timing", HeaderValue::from_static("foreign"));
    }
    response
}

/// Whether a browser says that a page of another origin led to the request.
fn is_foreign(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site != "same-origin" && site != "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Arc<Guard> {
        let address = Address { port: 7_117, token: "abc".into() };
        Guard::new(&address, vec!["box.example".into()], None)
    }

    fn status(method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        guard().check(&request).map_or_else(|failure| failure.status().as_u16(), |()| 200)
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:7117");
    const TOKEN: (&str, &str) = ("authorization", "Bearer abc");

    #[test]
    fn data_needs_the_token() {
        assert_eq!(status("GET", "/api/state", &[HOST, TOKEN]), 200);
        assert_eq!(status("GET", "/api/state", &[HOST]), 401);
        for wrong in ["Bearer abd", "Bearer ab", "Bearer abcd", "abc", "Basic abc"] {
            assert_eq!(status("GET", "/api/state", &[HOST, ("authorization", wrong)]), 401);
        }
        assert_eq!(status("GET", "/assets/ui/base/session.js", &[HOST]), 200);
    }

    #[test]
    fn other_names_and_other_pages_are_refused() {
        for host in ["evil.example", "127.0.0.1", "127.0.0.1:7118", "localhost.evil:7117", ""] {
            assert_eq!(status("GET", "/", &[("host", host)]), 403, "{host}");
        }
        assert_eq!(status("GET", "/", &[]), 403);
        for host in ["LOCALHOST:7117", "[::1]:7117", "box.example"] {
            assert_eq!(status("GET", "/", &[("host", host)]), 200, "{host}");
        }
        for origin in ["null", "http://evil.example", "http://127.0.0.1:7118", "https://localhost"]
        {
            assert_eq!(status("GET", "/", &[HOST, ("origin", origin)]), 403, "{origin}");
        }
        for origin in ["http://127.0.0.1:7117", "http://localhost:7117", "https://box.example"] {
            assert_eq!(status("GET", "/", &[HOST, ("origin", origin)]), 200, "{origin}");
        }
        for site in ["cross-site", "same-site", "other"] {
            assert_eq!(status("GET", "/", &[HOST, ("sec-fetch-site", site)]), 403, "{site}");
        }
    }

    #[test]
    fn links_of_other_pages_open_a_page_and_nothing_else() {
        let [site, mode] = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        let tab = ("sec-fetch-dest", "document");
        assert_eq!(status("GET", "/timeline", &[HOST, site, mode, tab]), 200);
        assert_eq!(status("GET", "/api/state", &[HOST, TOKEN, site, mode, tab]), 403);
        assert_eq!(status("POST", "/", &[HOST, site, mode, tab]), 403);
        for target in ["iframe", "frame", "embed", "object", "script", "image", "empty", ""] {
            let headers = [HOST, site, mode, ("sec-fetch-dest", target)];
            assert_eq!(status("GET", "/", &headers), 403, "{target}");
        }
        assert_eq!(status("GET", "/", &[HOST, site, tab]), 403);
    }

    #[test]
    fn only_two_methods_and_one_kind_of_body_are_answered() {
        let json = ("content-type", "application/json; charset=utf-8");
        assert_eq!(status("POST", "/api/query", &[HOST, TOKEN, json]), 200);
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            assert_eq!(status("POST", "/api/query", &[HOST, TOKEN, ("content-type", kind)]), 415);
        }
        for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"] {
            assert_eq!(status(method, "/api/query", &[HOST, TOKEN, json]), 405, "{method}");
        }
    }

    #[test]
    fn headers_may_not_be_there_twice() {
        assert_eq!(status("GET", "/", &[HOST, ("host", "evil.example")]), 400);
        assert_eq!(status("GET", "/api/state", &[HOST, TOKEN, TOKEN]), 400);
    }
}
