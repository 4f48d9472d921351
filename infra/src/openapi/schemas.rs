//! The schemas of the document, to which operations refer by name.
//!
//! The name of a schema is the last path segment of its type, so two types can have the same name
//! (for example `Data<App>` and `Data<Site>`). If different bodies or responses have the same name,
//! they are written inline. Different *inner* types with the same name would make the document
//! wrong, so [`Schemas::clashes`] finds them.

use std::collections::{BTreeMap, BTreeSet};

use api::http::Interface;
use api::http::describe::SchemaParts;
use utoipa::openapi::{Ref, RefOr, Schema};

use super::{closed, errors};
use crate::operation::Operation;

#[derive(Default)]
pub(super) struct Schemas {
    components: BTreeMap<String, RefOr<Schema>>,
    /// The names of bodies and responses that are written inline.
    inline: BTreeSet<String>,
    inner: BTreeSet<String>,
    clashes: BTreeSet<String>,
}

fn bodies(operation: &Operation) -> impl Iterator<Item = &SchemaParts> {
    operation.description.body.iter().chain(&operation.description.answer)
}

fn described(operation: &Operation) -> impl Iterator<Item = &SchemaParts> {
    bodies(operation).chain(&operation.description.path).chain(&operation.description.query)
}

/// The types that allow no additional fields: responses of the content API, and all bodies except
/// the few that ignore unknown fields. Responses of the product API may get new fields.
fn closed_roots(operation: &Operation) -> impl Iterator<Item = &SchemaParts> {
    let is_content = operation.route.interface == Interface::Content;
    operation
        .description
        .body
        .iter()
        .filter(|_| !operation.route.body.ignores_unknown_fields())
        .chain(operation.description.answer.iter().filter(move |_| is_content))
}

impl Schemas {
    pub(super) fn of(operations: &[Operation]) -> Self {
        let mut schemas = Self::default();
        for (name, schema) in operations.iter().flat_map(described).flat_map(|described| &described.components) {
            schemas.add_inner(name, schema);
        }
        for whole in operations.iter().flat_map(bodies) {
            schemas.add_whole(whole);
        }
        for name in schemas.inline.difference(&schemas.inner) {
            schemas.components.remove(name);
        }
        let closed = operations.iter().flat_map(closed_roots).map(|described| &described.schema);
        closed::close_reachable(&mut schemas.components, closed);
        let wholes: Vec<&str> = operations.iter().flat_map(closed_roots).map(|described| described.name.as_str()).collect();
        for name in wholes {
            schemas.components.entry(name.to_owned()).and_modify(closed::close_one);
        }
        schemas
    }

    fn add_inner(&mut self, name: &str, schema: &RefOr<Schema>) {
        self.inner.insert(name.to_owned());
        match self.components.get(name) {
            Some(known) if known != schema => drop(self.clashes.insert(name.to_owned())),
            Some(_) => {}
            None => drop(self.components.insert(name.to_owned(), schema.clone())),
        }
    }

    fn add_whole(&mut self, whole: &SchemaParts) {
        match self.components.get(&whole.name) {
            Some(known) if *known != whole.schema => drop(self.inline.insert(whole.name.clone())),
            Some(_) => {}
            None => drop(self.components.insert(whole.name.clone(), whole.schema.clone())),
        }
    }

    /// The schema of a body or response: a reference by name, or the schema inline. With `closed`,
    /// an inline schema allows only the fields that it lists; named schemas are already closed.
    pub(super) fn whole(&self, described: &SchemaParts, closed: bool) -> RefOr<Schema> {
        if !self.inline.contains(&described.name) {
            return RefOr::Ref(Ref::from_schema_name(&described.name));
        }
        let mut schema = described.schema.clone();
        if closed {
            closed::close_one(&mut schema);
        }
        schema
    }

    pub(super) fn add_errors(&mut self) {
        self.components.extend(errors::schemas());
    }

    pub(super) fn into_components(self) -> BTreeMap<String, RefOr<Schema>> {
        self.components
    }

    /// The names of inner types that are defined differently in different operations.
    pub(super) fn clashes(&self) -> &BTreeSet<String> {
        &self.clashes
    }
}
