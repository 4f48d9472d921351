//! What every function of Gatelet needs, and nothing that a function is.
//!
//! The way of a request: an event of API Gateway (or a connection of the local gateway) becomes an [`http`] request; the layer of
//! its interface ([`product_api`] or [`content_api`]) reads headers and body and shapes every answer; the operation's handler
//! applies the rules of [`model`] to what [`store`] reads, and writes the outcome in one conditional write.
//!
//! | module | knows |
//! |---|---|
//! | [`app`], [`settings`] | what one cold start builds, and from which environment variables |
//! | [`aws`], [`aws_http`] | calls of AWS, and what carries them |
//! | [`clock`], [`entropy`] | time and randomness, so that tests decide both |
//! | [`http`] | routes, the Lambda runner, what an operation says of itself |
//! | [`content_api`] | interface A: public content |
//! | [`product_api`] | interface B: access, errors, cursors, input |
//! | [`model`] | the rules, without AWS and without HTTP |
//! | [`crypto`] | passwords, tokens, digests |
//! | [`store`] | the table |
//! | [`mail`] | the built-in mails; with the feature `mail` their rendering and sending |
//! | [`oauth`] | providers, PKCE |
//! | [`tls`] | whom the service trusts when it asks others |
//! | `public_address` | which addresses may be called on behalf of a project |

pub mod app;
pub mod aws;
pub mod aws_http;
pub mod clock;
pub mod content_api;
pub mod crypto;
pub mod entropy;
pub mod environment;
pub mod http;
pub mod level;
pub mod mail;
pub mod memory;
pub mod model;
pub mod oauth;
pub mod problem;
pub mod product_api;
#[cfg(any(feature = "mail", feature = "oauth"))]
pub mod public_address;
pub mod settings;
pub mod store;
pub mod tls;

pub use app::App;
