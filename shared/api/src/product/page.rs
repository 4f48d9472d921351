//! Lists, whole or in pages.

use std::borrow::Cow;

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};
use errors::KnownError;
use serde::Serialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, Object, ObjectBuilder, Ref, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use wire::problem::Problems;

use crate::http::route::Route;
use crate::product::input::Param;

/// The maximum size of the items of a page, in bytes; a page with only one item may be larger.
pub const MAX_BYTES: usize = store::sharded::MAX_PAGE_BYTES;

/// The size of an item in the answer, in bytes, with the comma after it.
pub fn size(item: &impl Serialize) -> usize {
    serde_json::to_string(item).map_or(0, |text| text.len() + 1)
}

/// How many of these items fit on a page: at least one, if there are any.
pub fn fitting(items: &[impl Serialize]) -> usize {
    let (mut bytes, mut count) = (0, 0);
    for item in items {
        bytes += size(item);
        if bytes > MAX_BYTES && count > 0 {
            break;
        }
        count += 1;
    }
    count
}

/// Where the next page of a list begins.
#[derive(Serialize, ToSchema)]
pub struct Pagination {
    /// Opaque; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// A page of a list. A search may return short or empty pages before the last one.
#[derive(Serialize)]
pub struct Page<T> {
    items: Vec<T>,
    is_paginated: bool,
    pagination: Pagination,
}

impl<T> Page<T> {
    /// A page, and the cursor of the next one.
    pub fn new(items: Vec<T>, next_cursor: Option<String>) -> Self {
        Self { items, is_paginated: true, pagination: Pagination { next_cursor } }
    }
}

/// A list that comes whole, or in pages when the caller asks for them.
#[derive(Serialize)]
pub struct List<T> {
    items: Vec<T>,
    is_paginated: bool,
    /// Absent when there are no pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<Pagination>,
}

impl<T> List<T> {
    /// The whole list.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, is_paginated: false, pagination: None }
    }
}

impl<T> From<Page<T>> for List<T> {
    fn from(page: Page<T>) -> Self {
        Self { items: page.items, is_paginated: true, pagination: Some(page.pagination) }
    }
}

/// The schema of a list of `T`, whole or in pages.
fn schema<T: ToSchema>() -> ObjectBuilder {
    let items = ArrayBuilder::new().items(Ref::from_schema_name(T::name()));
    let is_paginated = Object::with_type(Type::Boolean);
    let object = ObjectBuilder::new().property("items", items).required("items");
    let object = object.property("is_paginated", is_paginated).required("is_paginated");
    object.property("pagination", Ref::from_schema_name(Pagination::name()))
}

fn components<T: ToSchema>(components: &mut Vec<(String, RefOr<Schema>)>) {
    components.push((T::name().into_owned(), T::schema()));
    T::schemas(components);
    components.push((Pagination::name().into_owned(), Pagination::schema()));
}

impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        schema::<T>().required("pagination").into()
    }
}

impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{}Page", T::name()))
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        components::<T>(schemas);
    }
}

impl<T: ToSchema> PartialSchema for List<T> {
    fn schema() -> RefOr<Schema> {
        schema::<T>().into()
    }
}

impl<T: ToSchema> ToSchema for List<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{}List", T::name()))
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        components::<T>(schemas);
    }
}

/// The requested number of items on a page; [`limit`] checks that it is from 1 to `MOST`. Without
/// it in the query, a page has at most `DEFAULT` items.
#[derive(Debug, Clone, Copy)]
pub struct Limit<const DEFAULT: usize, const MOST: usize>(usize);

impl<E: DeserializeError, const DEFAULT: usize, const MOST: usize> Deserr<E> for Limit<DEFAULT, MOST> {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        Param::deserialize_from_value(value, location).map(|Param(limit)| Self(limit))
    }
}

/// The number of items on a page, from 1 to `MOST`. Fails with a schema error if the requested
/// number is not in that range.
pub fn limit<const DEFAULT: usize, const MOST: usize>(given: Option<Limit<DEFAULT, MOST>>, route: &Route) -> Result<usize, KnownError> {
    match given.map_or(DEFAULT, |limit| limit.0) {
        limit if (1..=MOST).contains(&limit) => Ok(limit),
        _ => Err(route.schema_error(&Problems::one("query.limit", format!("must be from 1 to {MOST}")))),
    }
}
