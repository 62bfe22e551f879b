//! Errors as gRPC carries them: a code for programs, and our text for people.

use arrow_flight::error::FlightError;
use datafusion::error::DataFusionError;
use tonic::{Code, Status};

use crate::Failure;

/// The maximum length of a message in bytes. Messages travel in a header, and clients refuse
/// responses whose headers are too long.
const MAX_BYTES: usize = 4_096;

/// The status for a statement that failed: its message, its place and the advice.
pub fn of(failure: &Failure) -> Status {
    let mut text = failure.message.clone();
    if let Some(position) = failure.position {
        text.push_str(&format!(" (at character {position} of the statement)"));
    }
    if let Some(hint) = &failure.hint {
        text.push_str("; ");
        text.push_str(hint);
    }
    let code = match *failure == Failure::cancelled() {
        true => Code::Cancelled,
        false => code(failure.code),
    };
    Status::new(code, short(&text))
}

/// The status for an error of the query engine.
pub fn of_engine(error: DataFusionError) -> Status {
    of(&Failure::from(error))
}

/// The status for an error of encoding or decoding batches.
pub fn of_flight(error: FlightError) -> Status {
    match error {
        FlightError::Tonic(status) => *status,
        other => Status::internal(short(&other.to_string())),
    }
}

/// The code of gRPC for a code of SQLSTATE.
fn code(state: &str) -> Code {
    match state {
        "0A000" => Code::Unimplemented,
        "25006" | "42501" => Code::PermissionDenied,
        "28000" | "28P01" => Code::Unauthenticated,
        "42P01" => Code::NotFound,
        "53200" | "53300" | "54000" => Code::ResourceExhausted,
        "57014" => Code::DeadlineExceeded,
        "57P01" | "58030" => Code::Unavailable,
        "XX000" => Code::Internal,
        _ => Code::InvalidArgument,
    }
}

/// The beginning of a text, cut at a character.
pub fn short(text: &str) -> String {
    if text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    let mut end = MAX_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use datafusion::error::DataFusionError;
    use tonic::Code;

    use super::{MAX_BYTES, of, of_engine, short};
    use crate::Failure;

    #[test]
    fn the_cause_of_an_error_determines_the_code() {
        let plan = DataFusionError::Plan("no such column".into()).context("while planning");
        assert_eq!(of_engine(plan).code(), Code::InvalidArgument);
        let memory = DataFusionError::ResourcesExhausted("no memory".into());
        assert_eq!(of_engine(memory).code(), Code::ResourceExhausted);
    }

    #[test]
    fn a_message_has_the_place_and_the_advice() {
        let mut failure = Failure::new("42703", "no column x").with_hint("y?");
        failure.position = Some(8);
        assert_eq!(of(&failure).message(), "no column x (at character 8 of the statement); y?");
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let text = "µ".repeat(MAX_BYTES);
        let cut = short(&text);
        assert!(cut.len() <= MAX_BYTES + '…'.len_utf8());
        assert!(cut.ends_with('…'));
        assert_eq!(short("short"), "short");
    }
}
