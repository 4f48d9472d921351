//! `docs/all-operations.md`: contains one line per operation.

use std::fmt::Write as _;

use wire::level::Level;

use crate::operation::Operation;

const HEAD: &str = "\
# All operations

Written by `cargo run -p infra -- render`. The [reference](/docs/api) has the fields, answers,
errors and examples of each; `infra/COSTS.md` says what each costs: round trips, units of DynamoDB,
and the price of a million calls.

| operation | method and path | access |
|---|---|---|
";

fn access(operation: &Operation) -> &'static str {
    match operation.description.level {
        None => "public",
        Some(Level::Client) => "client, server, admin",
        Some(Level::Server) => "server, admin",
        Some(Level::Admin) => "admin",
    }
}

/// Renders the document in the order in which the areas list their operations.
pub fn document(operations: &[Operation]) -> String {
    let mut document = HEAD.to_owned();
    for operation in operations {
        let (route, access) = (&operation.route, access(operation));
        let _ = writeln!(document, "| {} | `{} {}` | {access} |", route.summary, route.verb.name(), route.path);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_line() {
        let operations = crate::operations::all();
        let document = document(&operations);
        assert!(document.contains("| `GET /health` | public |"), "{document}");
        assert_eq!(document.lines().filter(|line| line.starts_with("| ")).count(), operations.len() + 1);
    }
}
