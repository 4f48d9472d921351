//! The table of all operations in `README.md`, between two markers; the rest of the file is written by hand.

use std::fmt::Write as _;

use anyhow::Context as _;
use shared::product_api::access::Level;

use crate::Operation;

const BEGIN: &str = "<!-- operations: written by `cargo run -p infra -- render` -->\n";
const END: &str = "<!-- end of operations -->\n";

fn access(operation: &Operation) -> &'static str {
    match operation.description.level {
        None => "public",
        Some(Level::Client) => "client, server, admin",
        Some(Level::Server) => "server, admin",
        Some(Level::Admin) => "admin",
    }
}

/// A row for each operation, in the order of the areas' lists.
fn table(operations: &[Operation]) -> String {
    let mut table = String::from("| operation | method and path | access |\n|---|---|---|\n");
    for operation in operations {
        let (route, access) = (&operation.route, access(operation));
        let _ = writeln!(table, "| {} | `{} {}` | {access} |", route.summary, route.verb.name(), route.path);
    }
    table
}

/// The file with the table as it should be.
pub fn render(readme: &str, operations: &[Operation]) -> anyhow::Result<String> {
    let (before, rest) = readme.split_once(BEGIN).context("README.md has no place for the operations")?;
    let (_, after) = rest.split_once(END).context("README.md has no end of the operations")?;
    Ok(format!("{before}{BEGIN}\n{}\n{END}{after}", table(operations)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_around_the_table_stays() {
        let readme = format!("before\n{BEGIN}old\n{END}after\n");
        let once = render(&readme, &crate::operations::all()).unwrap();
        assert!(once.starts_with("before\n") && once.ends_with("after\n") && !once.contains("old\n"));
        assert!(once.contains("| `GET /health` | public |"), "{once}");
        assert_eq!(render(&once, &crate::operations::all()).unwrap(), once);
    }
}
