//! The HTTP side of operations: routes, descriptions, and the Lambda runner.

pub mod answer;
pub mod client;
pub mod describe;
mod event;
pub mod interface;
pub mod json;
pub mod json_lines;
pub mod lambda;
pub mod log;
pub mod need;
pub mod one_operation;
pub mod request_id;
pub mod route;
pub mod router;
pub mod table;
pub mod text;
pub mod verb;
pub mod version;
pub(crate) mod whole_body;

pub use crate::http::describe::{Describe, Description, Signature};
pub use crate::http::interface::Interface;
pub use crate::http::json::{CreatedJson, Json};
pub use crate::http::json_lines::JsonLines;
pub use crate::http::lambda::{run, run_content, run_for_agents, run_page, run_router};
pub use crate::http::need::{Need, Needs};
pub use crate::http::one_operation::{with_allow, with_fallbacks};
pub use crate::http::request_id::RequestId;
pub use crate::http::route::{Admission, BodyRule, Route};
pub use crate::http::router::{Operations, Register, fallback_router, layered, router};
pub use crate::http::table::{NamedItem, Table, TableAction, Trail};
pub use crate::http::text::{Page, Text, escape_html};
pub use verb::Verb;
