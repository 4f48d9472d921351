//! The contract between code, deployment, events and documents: what one of them says, all of them say. An operation that lacks a piece
//! fails here, with the name of the piece.

#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests to nobody but clippy")]

mod attack_costs;
mod document;
mod events;
mod house;
mod new_operation;
mod rendered;
mod routes;
mod scorecard;
mod security;
mod security_pages;
mod table;
mod template;
mod tree;
