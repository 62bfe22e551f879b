//! Errors as pages read them.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tracesql::Error;

/// An error with its status.
#[derive(Debug, Clone)]
pub struct Failure {
    status: StatusCode,
    message: String,
    /// Further members of the answer: the place in a statement, advice.
    more: Value,
}

/// What a request is answered with.
pub type Answer<T = Json<Value>> = Result<T, Failure>;

impl Failure {
    /// An error.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), more: Value::Null }
    }

    /// An error in what the page asked.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The same error with further members.
    pub fn with(self, more: Value) -> Self {
        Self { more, ..self }
    }

    /// The status.
    #[cfg(test)]
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Cancelled => StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST),
            Error::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut error = json!({"message": self.message});
        if let (Some(error), Value::Object(more)) = (error.as_object_mut(), self.more) {
            error.extend(more);
        }
        (self.status, Json(json!({"error": error}))).into_response()
    }
}
