//! JSON-RPC 2.0 for agents: `/mcp` and `/a2a`. The two endpoints are public and stateless, and read
//! only the public content.

pub mod code;
pub mod layer;
pub mod origin;
pub mod received;
pub mod reply;

pub use code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR};
pub use layer::layer;
pub use received::{JsonRequest, RpcRequest};
pub use reply::Reply;
