//! What an operation is to HTTP: its route, what it says of itself, and how it runs as a Lambda.

pub mod change;
pub mod client;
pub mod describe;
pub mod json;
pub mod json_lines;
pub mod lambda;
pub mod log;
pub mod request_id;
pub mod route;
pub mod router;
pub mod text;
pub mod version;

pub use describe::{Describe, Description, Signature};
pub use json::{Created, Json};
pub use json_lines::JsonLines;
pub use lambda::{run, run_router};
pub use request_id::RequestId;
pub use route::{HASHING_MEMORY, Interface, MEMORY, Named, Route, TableAction, Trail, Verb};
pub use router::{Register, fallback_router, layered, router};
pub use text::{Page, Text, escape_html};
