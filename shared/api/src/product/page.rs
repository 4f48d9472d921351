//! Responses that contain a list, either whole or in pages.

use std::borrow::Cow;
use std::collections::BTreeMap;

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};
use errors::KnownError;
use serde::Serialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, Object, ObjectBuilder, Ref, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use wire::problem::Problems;

use crate::http::route::Route;
use crate::product::input::Param;

/// The maximum total size of a page's items, in bytes; a page with only one item may be larger.
pub const MAX_BYTES: usize = store::table::sharded::MAX_PAGE_BYTES;

/// The size of an item in the response, in bytes, including the comma after it.
pub fn size(item: &impl Serialize) -> usize {
    serde_json::to_string(item).map_or(0, |text| text.len() + 1)
}

/// The number of these items that fit on a page: at least one, unless there are no items.
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

/// Collects a page of a list whose items are read in a different order. The page contains the first
/// items after a place, sorted by place, up to the limits of a page.
pub struct PageSorter<P, T> {
    after: Option<P>,
    limit: usize,
    items: BTreeMap<P, (T, usize)>,
    bytes: usize,
    /// The first place that is not on the page.
    end: Option<P>,
}

impl<P: Ord + Clone, T: Serialize> PageSorter<P, T> {
    /// An empty page, for the items after a place.
    pub fn new(after: Option<P>, limit: usize) -> Self {
        Self { after, limit, items: BTreeMap::new(), bytes: 0, end: None }
    }

    /// Adds an item if its place is on the page, which may push later items off the page.
    pub fn offer(&mut self, place: P, item: T) {
        let is_before = self.after.as_ref().is_some_and(|after| place <= *after);
        if is_before || self.end.as_ref().is_some_and(|end| place >= *end) {
            return;
        }
        let size = size(&item);
        self.bytes += size;
        self.items.insert(place, (item, size));
        while self.items.len() > self.limit || (self.bytes > MAX_BYTES && self.items.len() > 1) {
            let Some((place, (_, size))) = self.items.pop_last() else { return };
            self.bytes -= size;
            self.end = Some(place);
        }
    }

    /// The items, and the place of the last one if more items follow.
    pub fn finish(self) -> (Vec<T>, Option<P>) {
        let last = self.items.last_key_value().map(|(place, _)| place.clone()).filter(|_| self.end.is_some());
        (self.items.into_values().map(|(item, _)| item).collect(), last)
    }
}

/// Where the next page of a list begins.
#[derive(Serialize, ToSchema)]
pub struct Pagination {
    /// Opaque; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// A page of a list. In a search, pages before the last one may have fewer items than `limit`, or
/// none.
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

/// A whole list, or a page of it if the caller asks for pages.
#[derive(Serialize)]
pub struct List<T> {
    items: Vec<T>,
    is_paginated: bool,
    /// Absent if the list is whole.
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

/// The requested number of items on a page, by default `DEFAULT`; [`limit`] checks that the number
/// is from 1 to `MAX`.
#[derive(Debug, Clone, Copy)]
pub struct Limit<const DEFAULT: usize, const MAX: usize>(usize);

impl<E: DeserializeError, const DEFAULT: usize, const MAX: usize> Deserr<E> for Limit<DEFAULT, MAX> {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        Param::deserialize_from_value(value, location).map(|Param(limit)| Self(limit))
    }
}

/// The number of items on a page. Fails with a schema error if the requested number is not from 1
/// to `MAX`.
pub fn limit<const DEFAULT: usize, const MAX: usize>(given: Option<Limit<DEFAULT, MAX>>, route: &Route) -> Result<usize, KnownError> {
    match given.map_or(DEFAULT, |limit| limit.0) {
        limit if (1..=MAX).contains(&limit) => Ok(limit),
        _ => Err(route.schema_error(&Problems::one("query.limit", format!("must be from 1 to {MAX}")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers an item of `bytes` bytes at each place in `numbers`, in that order, and returns the
    /// pages.
    fn pages(numbers: &[usize], limit: usize, bytes: usize) -> Vec<Vec<usize>> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let mut page = PageSorter::new(after, limit);
            // The quotation marks, the one-digit number and the comma take four bytes.
            for number in numbers {
                page.offer(*number, format!("{}{number}", "x".repeat(bytes - 4)));
            }
            let (items, last) = page.finish();
            pages.push(items.iter().map(|item| item.trim_start_matches('x').parse().expect("a number")).collect());
            after = last;
            if after.is_none() {
                return pages;
            }
        }
    }

    #[test]
    fn a_sorted_page_has_the_first_items_that_fit_in_whatever_order_they_come() {
        for numbers in [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [3, 5, 1, 4, 2], [2, 5, 4, 1, 3]] {
            assert_eq!(pages(&numbers, 2, 10), [&[1, 2][..], &[3, 4], &[5]], "{numbers:?}");
            assert_eq!(pages(&numbers, 5, 10), [[1, 2, 3, 4, 5]], "{numbers:?}");
            assert_eq!(pages(&numbers, 5, MAX_BYTES / 2), [&[1, 2][..], &[3, 4], &[5]], "{numbers:?}");
            assert_eq!(pages(&numbers, 5, MAX_BYTES / 2 + 1), [[1], [2], [3], [4], [5]], "{numbers:?}");
            assert_eq!(pages(&numbers, 5, MAX_BYTES + 1), [[1], [2], [3], [4], [5]], "{numbers:?}: a large item is a page");
        }
        assert_eq!(pages(&[], 5, 10), [[0; 0]]);
    }

    #[test]
    fn a_small_item_does_not_take_the_place_of_an_earlier_large_one() {
        let mut page = PageSorter::new(None, 10);
        for (place, bytes) in [(1, 600_000), (2, 600_000), (3, 10)] {
            page.offer(place, "x".repeat(bytes));
        }
        let (items, last) = page.finish();
        assert_eq!((items.len(), last), (1, Some(1)));
    }
}
