//! Addresses and what answers them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State as Shared};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::Listener;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

use crate::guard::{self, Guard};
use crate::open::State;
use crate::{api, assets};

/// The most bytes of a request's body.
const MAX_BODY_BYTES: usize = 1 << 20;
/// A connection that has not sent the headers of its next request within this time is closed.
const HEADERS_TIME: Duration = Duration::from_secs(30);

/// Answers requests until `stop` ends or no request came for the time `idle`.
pub async fn run(
    listener: TcpListener,
    state: Arc<State>,
    guard: Arc<Guard>,
    idle: Option<Duration>,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let until_idle = until_idle(state.clone(), idle);
    let end = async move {
        tokio::select! {
            () = stop => {}
            () = until_idle => {}
        }
    };
    // Connections are not waited for: a page keeps one open for events.
    tokio::select! {
        () = serve(listener, router(state, guard)) => {}
        () = end => {}
    }
}

/// Answers each connection by a task of its own.
async fn serve(mut listener: TcpListener, router: Router) {
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS_TIME);
    loop {
        // Waits and tries again by itself if the system refuses a connection.
        let (stream, _) = Listener::accept(&mut listener).await;
        // Answers are written whole, so that waiting for more to send only delays them.
        stream.set_nodelay(true).ok();
        let service = TowerToHyperService::new(router.clone());
        let builder = builder.clone();
        tokio::spawn(async move {
            // A connection that breaks is the business of its client.
            builder.serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

async fn until_idle(state: Arc<State>, idle: Option<Duration>) {
    let Some(idle) = idle else { return std::future::pending().await };
    loop {
        let passed = state.last_request.lock().elapsed();
        let Some(left) = idle.checked_sub(passed) else { return };
        tokio::time::sleep(left + Duration::from_millis(1)).await;
    }
}

fn router(state: Arc<State>, guard: Arc<Guard>) -> Router {
    let mut pages = Router::new();
    for (address, name) in assets::PAGES {
        let answer = async move |Shared(state): Shared<Arc<State>>| page(name, state);
        pages = pages.route(address, get(answer));
    }
    pages
        .route("/assets/ui/{*path}", get(assets::own))
        .route("/assets/web/{*path}", get(assets::shared))
        // Modules of the report name shared ones by a path that ends here.
        .route("/web/{*path}", get(assets::shared))
        .route("/assets/report/{*path}", get(assets::of_report))
        .route("/api/state", get(api::state::state))
        .route("/api/saved/{name}", get(api::state::saved))
        .route("/api/docs", get(api::docs::all))
        .route("/api/docs/{name}", get(api::docs::one))
        .route("/api/query", post(api::query::query))
        .route("/api/cancel", post(api::query::cancel))
        .route("/api/complete", post(api::text::complete))
        .route("/api/spans", post(api::text::spans))
        .route("/api/summary", post(api::summary::summary))
        .route("/api/report", get(api::state::report))
        .route("/api/tracks", get(api::tracks::tracks))
        .route("/api/slices", post(api::tracks::slices))
        .route("/api/counters", post(api::tracks::counters))
        .route("/api/event", post(api::event::event))
        .route("/api/same_name", post(api::same_name::same_name))
        .route("/api/area", post(api::area::area))
        .route("/api/search", post(api::search::search))
        .route("/api/locate", post(api::search::locate))
        .route("/api/findings", get(api::marks::findings))
        .route("/api/marks", post(api::marks::marks))
        .route("/api/stacks", post(api::stacks::stacks))
        .route("/api/events", get(api::events::events))
        .route("/api/export", post(api::export::export))
        .fallback(async || assets::not_found())
        .method_not_allowed_fallback(async || {
            crate::failure::Failure::new(
                axum::http::StatusCode::METHOD_NOT_ALLOWED,
                "this address is asked with another method",
            )
        })
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(state.clone(), note_request))
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .with_state(state)
}

/// A page. The index of the timeline is begun with its page, because the browser takes a while to
/// read the modules that ask for it.
fn page(name: &str, state: Arc<State>) -> Response {
    if name == "timeline" {
        // An error is that of the request that asks for the index.
        tokio::spawn(async move { state.timeline().await.map(drop).ok() });
    }
    assets::page(name)
}

/// Remembers when the last allowed request came.
async fn note_request(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    *state.last_request.lock() = Instant::now();
    next.run(request).await
}
