//! Generates items and reads, most of which the engine accepts.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::query::QueryInput;
use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue as Value, Select};
use proptest::collection::{hash_map, hash_set, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use store::Key;
use store::table::row::{ReadPage, ReadRows};

use crate::engine::TABLE;

pub(super) type Item = HashMap<String, Value>;

pub(super) fn text(text: &str) -> Value {
    Value::S(text.to_owned())
}

pub(super) fn key(pk: &str, sk: &str) -> Item {
    HashMap::from([("pk".to_owned(), text(pk)), ("sk".to_owned(), text(sk))])
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![4 => any::<i64>().prop_map(|number| number.to_string()), 1 => select(vec!["1.50", "-0", "1e3", "", "x", "007"]).prop_map(str::to_owned)]
}

/// Values of every type, some of which the engine rejects.
fn value() -> impl Strategy<Value = Value> {
    let flat = prop_oneof![
        "[a-z\"\\\\é\u{7}]{0,6}".prop_map(Value::S),
        number().prop_map(Value::N),
        vec(any::<u8>(), 0..6).prop_map(|bytes| Value::B(Blob::new(bytes))),
        any::<bool>().prop_map(Value::Bool),
        any::<bool>().prop_map(Value::Null),
        vec("[a-c]{1,2}", 0..4).prop_map(Value::Ss),
        vec(number(), 0..4).prop_map(Value::Ns),
        vec(vec(any::<u8>(), 1..3), 0..4).prop_map(|all| Value::Bs(all.into_iter().map(Blob::new).collect())),
    ];
    flat.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::L), hash_map("[a-c]", inner, 0..4).prop_map(Value::M)]
    })
}

fn name() -> impl Strategy<Value = &'static str> {
    select(vec!["A", "B"])
}

fn sort() -> impl Strategy<Value = &'static str> {
    select(vec!["1", "2", "3", "4", "5"])
}

/// Keys, most of which are complete.
fn keys() -> impl Strategy<Value = Item> {
    let whole = || (name(), sort()).prop_map(|(pk, sk)| key(pk, sk));
    let odd = (whole(), select(vec!["pk", "sk", "other"]), of(value())).prop_map(|(mut key, name, value)| {
        key.remove(name);
        key.extend(value.map(|value| (name.to_owned(), value)));
        key
    });
    prop_oneof![9 => whole(), 1 => odd]
}

pub(super) fn items() -> impl Strategy<Value = Vec<Item>> {
    let item = (name(), sort(), hash_map("[a-cn]", value(), 0..4), of((name(), sort())));
    vec(item, 0..12).prop_map(|items| {
        let of_index = |(pk, sk): (&str, &str)| [("gsi1pk".to_owned(), text(pk)), ("gsi1sk".to_owned(), text(sk))];
        let whole = |(pk, sk, attributes, index): (_, _, Item, Option<_>)| -> Item {
            key(pk, sk).into_iter().chain(attributes).chain(index.into_iter().flat_map(of_index)).collect()
        };
        items.into_iter().map(whole).collect()
    })
}

fn table() -> impl Strategy<Value = &'static str> {
    prop_oneof![19 => Just(TABLE), 1 => select(vec!["missing", "", "no name"])]
}

/// A projection expression, and the attribute names in it.
fn projection() -> impl Strategy<Value = (Option<String>, Option<HashMap<String, String>>)> {
    let valid = select(vec![(None, None), (Some("a, c.a, sk"), None), (Some("#n"), Some("n")), (Some("b[0].a, pk"), None)]);
    let odd = select(vec![(Some(""), None), (None, Some("n")), (Some("a, a"), None), (Some("#m"), Some("n")), (Some("a,"), None)]);
    prop_oneof![9 => valid, 1 => odd].prop_map(|(expression, name): (Option<&str>, Option<&str>)| {
        (expression.map(str::to_owned), name.map(|name| HashMap::from([("#n".to_owned(), name.to_owned())])))
    })
}

/// Sort keys, some of which the engine rejects.
fn any_sort() -> impl Strategy<Value = String> {
    prop_oneof![9 => sort().prop_map(str::to_owned), 1 => select(vec![String::new(), "x".repeat(1025)])]
}

pub(super) fn read_rows() -> impl Strategy<Value = ReadRows> {
    let key = (name(), any_sort()).prop_map(|(pk, sk)| Key::new(pk, sk));
    (table(), hash_set(key, 1..6)).prop_map(|(table, keys)| ReadRows { table: table.to_owned(), keys: keys.into_iter().collect() })
}

pub(super) fn read_page() -> impl Strategy<Value = ReadPage> {
    let limit = prop_oneof![9 => 1..4_i32, 1 => select(vec![0, -1, i32::MAX])];
    (table(), name(), any_sort(), any_sort(), limit, of(any_sort())).prop_map(|(table, pk, first, last, limit, after)| ReadPage {
        table: table.to_owned(),
        pk: pk.to_owned(),
        first,
        last,
        limit,
        after,
    })
}

/// An index, and a condition on its keys.
fn conditions() -> impl Strategy<Value = (Option<&'static str>, &'static str)> {
    let valid = select(vec![
        (None, "pk = :pk"),
        (None, "pk = :pk AND sk BETWEEN :from AND :to"),
        (None, "pk = :pk AND begins_with(sk, :from)"),
        (Some("gsi1"), "gsi1pk = :pk"),
        (Some("gsi1"), "gsi1pk = :pk AND gsi1sk > :from"),
        (Some("gsi2"), "gsi2pk = :pk"),
    ]);
    let odd = select(vec![(None, "sk = :from"), (None, ""), (None, "pk ="), (Some("gsi3"), "pk = :pk"), (Some("gsi1"), "pk = :pk")]);
    prop_oneof![9 => valid, 1 => odd]
}

fn filter() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![
        5 => Just(None),
        4 => select(vec!["attribute_exists(a)", "n > :n", "n IN (:n, :from) OR NOT contains(b, :from)"]).prop_map(Some),
        1 => select(vec!["", "pk = :pk", "n >"]).prop_map(Some),
    ]
}

/// The values for the names in a query's expressions, with a few left out or added.
fn values(expressions: String) -> impl Strategy<Value = Option<Item>> {
    let all = [":pk", ":from", ":to", ":n"].into_iter().filter(|name| {
        let mut words = expressions.split(|c: char| c != ':' && !c.is_alphanumeric());
        words.any(|word| word == *name)
    });
    let all: Vec<&str> = all.collect();
    let named = prop_oneof![9 => Just(all.clone()), 1 => subsequence(all.clone(), 0..=all.len())];
    let drawn = (name(), sort(), sort(), prop_oneof![1 => (0..9_i32).prop_map(|n| Value::N(n.to_string())), 1 => value()]);
    (named, drawn).prop_map(|(named, (pk, from, to, n))| {
        let all = [(":pk", text(pk)), (":from", text(from)), (":to", text(to)), (":n", n)];
        Some(all.into_iter().filter(|(name, _)| named.contains(name)).map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

pub(super) fn query() -> impl Strategy<Value = QueryInputBuilder> {
    let expressions = (conditions(), filter()).prop_flat_map(|((index, condition), filter)| {
        (Just((index, condition, filter)), values(format!("{condition} {}", filter.unwrap_or_default())))
    });
    let limit = prop_oneof![4 => of(1..4_i32), 1 => select(vec![0, -1, i32::MAX]).prop_map(Some)];
    let shown =
        prop_oneof![8 => Just(None), 2 => select(vec!["COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "NONE"]).prop_map(Some)];
    let start = prop_oneof![7 => Just(None), 3 => keys().prop_map(Some)];
    (table(), expressions, limit, shown, start, of(any::<bool>()), of(any::<bool>()), projection()).prop_map(
        |(table, ((index, condition, filter), values), limit, shown, start, forward, consistent, (projection, names))| {
            QueryInput::builder()
                .table_name(table)
                .set_index_name(index.map(str::to_owned))
                .key_condition_expression(condition)
                .set_filter_expression(filter.map(str::to_owned))
                .set_expression_attribute_values(values)
                .set_limit(limit)
                .set_select(shown.map(Select::from))
                .set_exclusive_start_key(start)
                .set_scan_index_forward(forward)
                .set_consistent_read(consistent)
                .set_projection_expression(projection)
                .set_expression_attribute_names(names)
        },
    )
}
