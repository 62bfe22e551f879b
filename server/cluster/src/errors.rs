//! Errors of tasks. Ballista passes them on inside its own descriptions, so the text of an error is
//! marked on the executor and cut out again where it is shown.

use std::error::Error;
use std::io::ErrorKind;

use datafusion::error::DataFusionError;
use tracesql_remote::Failure;

const BEGIN: &str = "<tracesql:";
const END: char = '>';

/// The error of a task as it leaves the executor. Ballista runs a task again only after an
/// `IoError`, so that is what errors become that may pass.
pub fn marked(error: &DataFusionError) -> DataFusionError {
    let text = text_of(error);
    // Hexadecimal digits survive any number of escapes.
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("{BEGIN}{digits}{END}");
    match may_pass(error) {
        true => DataFusionError::IoError(std::io::Error::other(text)),
        false => DataFusionError::Execution(text),
    }
}

/// The text of a task's error, from a description of a failed job. `None` if the error is not one
/// of a task.
pub fn cut(description: &str) -> Option<String> {
    let (_, rest) = description.split_once(BEGIN)?;
    let (digits, _) = rest.split_once(END)?;
    let bytes = digits
        .as_bytes()
        .chunks(2)
        .map(|two| std::str::from_utf8(two).ok().and_then(|two| u8::from_str_radix(two, 16).ok()));
    String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()
}

fn text_of(error: &DataFusionError) -> String {
    if let Some(text) = tracesql::store::failure(error) {
        return text;
    }
    match error {
        DataFusionError::External(inner) => inner.to_string(),
        DataFusionError::Shared(inner) => text_of(inner),
        // The kind of an error of the library is no news to its user.
        DataFusionError::Execution(text) => text.clone(),
        other => other.strip_backtrace(),
    }
}

/// Whether the same task may succeed when it runs again: the network or the object store failed.
fn may_pass(error: &DataFusionError) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = next {
        next = cause.source();
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return failure.is_passing();
        }
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            return !matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::StorageFull
            );
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use datafusion::error::DataFusionError;
    use datafusion::object_store;
    use tracesql_remote::Failure;

    use super::{cut, marked};

    #[test]
    fn a_text_is_cut_out_of_any_description() {
        let error = DataFusionError::Execution("no column \"x\"\nin µs".into());
        let mut description = marked(&error).to_string();
        for _ in 0..3 {
            description = format!("Job failed due to {:?}", DataFusionError::Plan(description));
        }
        let text = cut(&description).expect("a text");
        assert_eq!(text, "no column \"x\"\nin µs");
        assert_eq!(cut("no executors"), None);
    }

    #[test]
    fn what_may_pass_is_an_error_of_input_and_output() {
        let store = |error| DataFusionError::ObjectStore(Box::new(error));
        let of_server = |text: &str| {
            let error = object_store::Error::Generic { store: "S3", source: text.into() };
            Failure::of("s3://bucket/run", &error).into_store_error()
        };
        let slow = of_server("Server returned non-2xx status code: 503: SlowDown");
        let denied = of_server(
            "Server returned non-2xx status code: 403: <Error><Code>AccessDenied</Code></Error>",
        );
        let changed = Failure::lasting("s3://bucket/run", "is missing").into_store_error();
        let missing = object_store::Error::NotFound { path: "p".into(), source: "404".into() };
        let is_io = |error| matches!(marked(&error), DataFusionError::IoError(_));
        assert!(is_io(store(slow).context("while reading")));
        assert!(!is_io(store(denied)));
        let shown = marked(&store(changed)).to_string();
        assert_eq!(cut(&shown).as_deref(), Some("s3://bucket/run: is missing"));
        assert!(!is_io(store(missing)));
        assert!(!is_io(DataFusionError::ResourcesExhausted("memory".into())));
        let kind = |kind| DataFusionError::IoError(std::io::Error::from(kind));
        assert!(is_io(kind(std::io::ErrorKind::TimedOut)));
        assert!(!is_io(kind(std::io::ErrorKind::NotFound)));
    }
}
