//! Renders the routes of `cargo lambda watch`: `CargoLambda.toml`, which `cargo lambda` reads from
//! its working directory. With these routes, one process serves every operation at its path.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use api::http::Verb;
use api::http::version::gateway_path;

use crate::operation::Operation;

const HEAD: &str = "\
# Written by `cargo run -p infra -- render` from the routes, for `cargo lambda watch`.
[watch.router]
";

/// Renders the file, which maps the methods of each path to functions.
pub fn document(operations: &[Operation]) -> String {
    let mut paths: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for Operation { route, .. } in operations {
        let functions = paths.entry(gateway_path(route.path)).or_default();
        functions.push((route.verb.name(), route.name));
        if route.verb == Verb::Get {
            functions.push(("HEAD", route.name));
        }
    }
    let mut document = HEAD.to_owned();
    for (path, functions) in paths {
        let functions: Vec<String> =
            functions.iter().map(|(method, name)| format!("{{ method = \"{method}\", function = \"{name}\" }}")).collect();
        let _ = writeln!(document, "\"{path}\" = [{}]", functions.join(", "));
    }
    document
}
