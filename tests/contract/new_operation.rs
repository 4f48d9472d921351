//! `cargo run -p infra -- new` creates operations that fulfill the contract. These tests run the
//! command on a copy of an area's lists, but do not compile the created files; `infra/new/run`
//! does.

use std::fs;
use std::path::{Path, PathBuf};

use infra::checked_in::root;
use infra::new::{NewOperation, OperationRequest};
use infra::operations;
use infra::scorecard::NamedTest;
use serde_json::Value;

use crate::events::assert_request;

/// A copy of an area's lists, which is deleted when this value is dropped.
struct Copy(PathBuf);

impl Copy {
    fn create(area: &str) -> Self {
        let copy = Self(std::env::temp_dir().join(format!("gatelet-new-{area}-{}", std::process::id())));
        for path in [format!("functions/{area}/src/lib.rs"), format!("tests/api/{area}/mod.rs"), format!("tests/api/{area}.rs")] {
            if let Ok(text) = fs::read_to_string(root().join(&path)) {
                let path = copy.0.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        copy
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn asked(area: &str, name: &str, method: &str, path: &str) -> OperationRequest {
    OperationRequest { area: area.to_owned(), name: name.to_owned(), method: method.to_owned(), path: path.to_owned(), summary: None }
}

/// Creates an operation in the copy.
fn made(area: &str, method: &str, path: &str, copy: &Path) -> Result<(), String> {
    let operation = NewOperation::validate(asked(area, "sample-note", method, path), copy, &operations::all()).unwrap();
    let files = operation.files(copy).map_err(|error| error.to_string())?;
    for file in &files {
        file.write().unwrap();
    }
    Ok(())
}

#[test]
fn a_new_operation_meets_the_contract() {
    for (area, method, path, sent, test) in [
        ("users", "GET", "/api/v1/sample-notes", "/api/v1/sample-notes", "a_server_is_answered_and_a_client_is_refused"),
        ("teams", "POST", "/api/v1/sample/{slug}", "/api/v1/sample/some-slug", "a_server_is_answered_and_a_client_is_refused"),
        ("content", "GET", "/api/v1/sample-notes", "/api/v1/sample-notes", "the_public_apps_are_counted"),
    ] {
        let copy = Copy::create(area);
        made(area, method, path, &copy.0).unwrap();

        let operation = copy.text(&format!("functions/{area}/src/sample_note.rs"));
        assert!(operation.starts_with(&format!("//! `{method} {path}`: ")), "{operation}");
        let route = format!("Route::{}(\"{area}-sample-note\", \"{path}\")", method.to_lowercase());
        assert!(operation.contains(&route) && operation.contains(".summary(\""), "{operation}");
        let library = copy.text(&format!("functions/{area}/src/lib.rs"));
        for line in ["pub mod sample_note;", "    register.operation(sample_note::ROUTE, sample_note::handle);"] {
            assert_eq!(library.lines().filter(|found| *found == line).count(), 1, "{area}: {line}");
        }
        let lambda = copy.text(&format!("functions/{area}/src/bin/{area}-sample-note.rs"));
        assert!(lambda.contains(&format!("use {area}_functions::sample_note::{{ROUTE, handle}};")), "{lambda}");

        let event: Value = serde_json::from_str(&copy.text(&format!("events/{area}/sample-note.json"))).unwrap();
        assert_request(&format!("{area}-sample-note"), &event);
        assert_eq!((&event["rawPath"], &event["requestContext"]["http"]["method"]), (&sent.into(), &method.into()));
        assert_eq!(event["routeKey"], format!("{method} {}", path.replace("/api/v1", "/api/{version}")));

        // The area's list contains the created test, so the test runs.
        NamedTest::find(&copy.0, &format!("tests/api/{area}/sample_note.rs::{test}")).unwrap();
        let again = made(area, method, path, &copy.0).unwrap_err();
        assert!(again.contains("exists"), "{again}");
    }
}

#[test]
fn a_keyword_names_neither_an_operation_nor_a_parameter() {
    // `Self` contains a capital letter, which names must not contain.
    let strict = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub \
                  ref return self static struct super trait true type unsafe use where while";
    let reserved = "abstract become box do final gen macro override priv try typeof unsized virtual yield";
    let existing = operations::all();
    for word in strict.split(' ').chain(reserved.split(' ')).filter(|word| !word.is_empty()) {
        let path = format!("/api/v1/sample/{{{word}}}");
        for asked in [asked("users", word, "GET", "/api/v1/sample"), asked("users", "sample-note", "GET", &path)] {
            let error = NewOperation::validate(asked, &root(), &existing).unwrap_err();
            assert!(error.to_string().contains("keyword"), "{word}: {error}");
        }
    }
}

#[test]
fn an_existing_operation_is_not_created_again() {
    let existing = operations::all();
    for operation in existing.iter().filter(|operation| operation.route.path.starts_with("/api/v1/")) {
        let (verb, path) = (operation.route.verb.name(), operation.route.path);
        let error = NewOperation::validate(asked(operation.area(), "sample-note", verb, path), &root(), &existing).unwrap_err();
        assert!(error.to_string().contains(&format!("is the route of {}", operation.route.name)), "{error}");
        let error = NewOperation::validate(asked(operation.area(), operation.short_name(), verb, "/api/v1/sample"), &root(), &existing);
        let error = error.unwrap_err();
        assert!(error.to_string().contains("already exists"), "{error}");
    }
}
