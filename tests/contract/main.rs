//! The contract between code, deployment, events and documentation, all of which must agree. If a
//! part of an operation is missing, a test fails and names the part.

#![expect(clippy::unwrap_used, reason = "clippy does not recognise helpers of tests as tests")]

mod alarms;
mod attack_costs;
mod content_cache;
mod doc_links;
mod document;
mod emails;
mod events;
mod house;
mod imports;
mod lists;
mod manifest;
mod new_operation;
mod passages;
mod prose;
mod quotas;
mod references;
mod rendered;
mod routes;
mod scorecard;
mod security;
mod security_pages;
mod table;
mod template;
mod tree;
mod words;
