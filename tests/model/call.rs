//! Calls to the table, and the ways to break them on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

/// The primary key of an item.
pub(crate) type Key = (Arc<str>, Arc<str>);

/// A call to the table, consisting of a DynamoDB operation and its input. Equal calls have equal
/// texts.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) operation: Arc<str>,
    pub(crate) text: Arc<str>,
    pub(crate) input: Arc<Value>,
    /// The items that the call reads or writes; `None` for a query, whose input does not name
    /// items.
    pub(crate) keys: Option<Arc<[Key]>>,
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.operation == other.operation && self.text == other.text
    }
}

impl Eq for Call {}

impl Hash for Call {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.operation, &self.text).hash(state);
    }
}

/// A hash that is the same in every run.
pub(crate) fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The value, with its fields and the keys of a batch in canonical order.
pub(crate) fn ordered(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> = fields.into_iter().map(|(name, value)| (name, ordered(value))).collect();
            let fields = fields.into_iter().map(|(name, mut value)| {
                if let ("Keys", Value::Array(keys)) = (name.as_str(), &mut value) {
                    keys.sort_by_key(Value::to_string);
                }
                (name, value)
            });
            Value::Object(fields.collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(ordered).collect()),
        value => value,
    }
}

pub(crate) fn key_of(item: &Value) -> Key {
    let part = |name: &str| Arc::from(item[name]["S"].as_str().unwrap_or_else(|| panic!("no {name} in {item}")));
    (part("pk"), part("sk"))
}

/// The key of a write that is made alone or in a transaction.
fn key_of_write(write: &Value) -> Key {
    key_of(if write["Item"].is_object() { &write["Item"] } else { &write["Key"] })
}

pub(crate) struct Write<'a> {
    /// `Put`, `Update`, `Delete` or `ConditionCheck`.
    pub(crate) kind: &'a str,
    pub(crate) input: &'a Value,
}

impl Write<'_> {
    pub(crate) fn key(&self) -> Key {
        key_of_write(self.input)
    }

    /// Whether the write marks a single-use item as used: a code, a link, an OAuth authorization,
    /// or the code of an authorization.
    pub(crate) fn redeems(&self) -> bool {
        let expression = self.input["UpdateExpression"].as_str().unwrap_or_default();
        ["d.used = ", "d.session_id = ", "taken_by = "].iter().any(|set| expression.contains(set))
    }

    /// Whether the item already has the mark of this write, in which case the write is repeated.
    /// Only writes to authorizations contain marks.
    pub(crate) fn comes_again(&self, item: &Value) -> bool {
        let mark = &self.input["ExpressionAttributeValues"][":mark"]["S"];
        mark.is_string() && item["taken_by"] == *mark
    }
}

impl Call {
    pub(crate) fn new(operation: &str, input: Value) -> Self {
        let input = ordered(input);
        let keys: Option<Vec<Key>> = match operation {
            "GetItem" | "PutItem" | "UpdateItem" | "DeleteItem" => Some(vec![key_of_write(&input)]),
            "BatchGetItem" => {
                let tables = input["RequestItems"].as_object().unwrap();
                Some(tables.values().flat_map(|table| table["Keys"].as_array().unwrap().iter().map(key_of)).collect())
            }
            "TransactWriteItems" => Some(writes_of(operation, &input).iter().map(Write::key).collect()),
            _ => None,
        };
        Self { operation: operation.into(), text: input.to_string().into(), input: input.into(), keys: keys.map(Arc::from) }
    }

    pub(crate) fn is_read(&self) -> bool {
        matches!(&*self.operation, "GetItem" | "BatchGetItem" | "Query")
    }

    pub(crate) fn is_transaction(&self) -> bool {
        &*self.operation == "TransactWriteItems"
    }

    pub(crate) fn writes(&self) -> Vec<Write<'_>> {
        writes_of(&self.operation, &self.input)
    }

    /// The token that lets DynamoDB recognize a repeated transaction; `None` if the call does not
    /// have one.
    pub(crate) fn token(&self) -> Option<&str> {
        self.input["ClientRequestToken"].as_str()
    }

    /// The same call after `change` has been applied to every write. `change` also gets the kind of
    /// the write.
    pub(crate) fn map_writes(&self, mut change: impl FnMut(&str, &mut Value)) -> Self {
        let mut input = (*self.input).clone();
        match &*self.operation {
            "TransactWriteItems" => {
                for item in input["TransactItems"].as_array_mut().unwrap() {
                    for (kind, write) in item.as_object_mut().unwrap() {
                        change(kind, write);
                    }
                }
            }
            operation => {
                if let Some(kind) = operation.strip_suffix("Item").filter(|_| !self.is_read()) {
                    change(kind, &mut input);
                }
            }
        }
        Self { text: input.to_string().into(), input: input.into(), ..self.clone() }
    }
}

fn writes_of<'a>(operation: &'a str, input: &'a Value) -> Vec<Write<'a>> {
    match operation {
        "TransactWriteItems" => {
            let items = input["TransactItems"].as_array().unwrap().iter().flat_map(|item| item.as_object().unwrap());
            items.map(|(kind, input)| Write { kind, input }).collect()
        }
        "PutItem" | "UpdateItem" | "DeleteItem" => vec![Write { kind: operation.strip_suffix("Item").unwrap_or_default(), input }],
        _ => Vec::new(),
    }
}

/// A condition of a write, or an operand of its `AND`, as text: the kind of write, the kind of
/// item, and the condition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Condition(pub(crate) String);

impl Condition {
    fn of(kind: &str, key: &Key, condition: &str) -> Self {
        let item = |text: &str| text.split('#').next().unwrap_or_default().to_owned();
        Self(format!("{kind} {}/{}: {condition}", item(&key.0), item(&key.1)))
    }

    /// All conditions of a call: each operand of `AND`, and each whole condition.
    pub(crate) fn all(call: &Call) -> BTreeSet<Self> {
        let mut all = BTreeSet::new();
        for write in call.writes() {
            if let Some(whole) = write.input["ConditionExpression"].as_str() {
                all.extend([whole].into_iter().chain(parts(whole)).map(|condition| Self::of(write.kind, &write.key(), condition)));
            }
        }
        all
    }

    /// The same call with this condition replaced by one that is always true. The replacement uses
    /// the same names and values, because DynamoDB rejects unused ones.
    pub(crate) fn dropped_from(&self, call: &Call) -> Call {
        call.map_writes(|kind, write| {
            let Some(condition) = write["ConditionExpression"].as_str() else { return };
            let key = key_of_write(write);
            let dropped = if Self::of(kind, &key, condition) == *self {
                format!("({condition}) OR NOT ({condition})")
            } else {
                let parts = parts(condition)
                    .into_iter()
                    .map(|part| if Self::of(kind, &key, part) == *self { format!("({part} OR NOT {part})") } else { part.to_owned() });
                parts.collect::<Vec<_>>().join(" AND ")
            };
            write["ConditionExpression"] = dropped.into();
        })
    }
}

/// The operands of `AND` that are outside parentheses.
fn parts(condition: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0_usize, 0);
    for (index, character) in condition.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && condition[index..].starts_with(" AND ") => {
                parts.push(&condition[begin..index]);
                begin = index + " AND ".len();
            }
            _ => {}
        }
    }
    parts.push(&condition[begin..]);
    parts
}

#[test]
fn a_condition_is_split_into_its_conjuncts() {
    assert_eq!(parts("a = :b AND (c OR d AND e) AND attribute_exists(pk)"), ["a = :b", "(c OR d AND e)", "attribute_exists(pk)"]);
    assert_eq!(parts("a OR b"), ["a OR b"]);
}
