//! Requests and answers: interface A beside interface B, routes, the Lambda runner, logging.

pub mod content;
pub mod http;
pub mod product;
