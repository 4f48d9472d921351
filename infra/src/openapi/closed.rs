//! Adds `additionalProperties: false` to the schemas of objects that may have no other fields,
//! because derived schemas lack it.

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::schema::AdditionalProperties;
use utoipa::openapi::{RefOr, Schema};

/// Closes the named schemas to which `roots` refer, directly or indirectly. The parts of an `allOf`
/// stay open, because a closed part would reject the fields of the other parts.
pub(super) fn close_reachable<'a>(components: &mut BTreeMap<String, RefOr<Schema>>, roots: impl Iterator<Item = &'a RefOr<Schema>>) {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<String> = roots.flat_map(names).collect();
    while let Some(name) = waiting.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        if let Some(schema) = components.get_mut(&name) {
            close_one(schema);
            waiting.extend(names(schema));
        }
    }
}

/// Closes the schema of an object, and the schemas of objects that are written inline in its
/// properties and alternatives. The elements of arrays and the parts of an `allOf` stay open.
pub(super) fn close_one(schema: &mut RefOr<Schema>) {
    let RefOr::T(schema) = schema else { return };
    match schema {
        Schema::Object(object) if !object.properties.is_empty() => {
            object.additional_properties.get_or_insert_with(|| Box::new(AdditionalProperties::FreeForm(false)));
            object.properties.values_mut().for_each(close_one);
        }
        Schema::OneOf(one_of) => one_of.items.iter_mut().for_each(close_one),
        Schema::AnyOf(any_of) => any_of.items.iter_mut().for_each(close_one),
        _ => {}
    }
}

/// The names of the schemas to which a schema refers, except for the parts of an `allOf`.
fn names(schema: &RefOr<Schema>) -> Vec<String> {
    match schema {
        RefOr::Ref(reference) => reference.ref_location.rsplit('/').next().map(str::to_owned).into_iter().collect(),
        RefOr::T(Schema::Object(object)) => object.properties.values().flat_map(names).collect(),
        RefOr::T(Schema::OneOf(one_of)) => one_of.items.iter().flat_map(names).collect(),
        RefOr::T(Schema::AnyOf(any_of)) => any_of.items.iter().flat_map(names).collect(),
        RefOr::T(Schema::Array(array)) => match &array.items {
            utoipa::openapi::schema::ArrayItems::RefOrSchema(items) => names(items),
            utoipa::openapi::schema::ArrayItems::False => Vec::new(),
        },
        RefOr::T(_) => Vec::new(),
    }
}
