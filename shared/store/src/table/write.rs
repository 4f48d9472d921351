//! Conditional writes, either alone or in a transaction.

use std::collections::HashMap;

use aws::{CallError, Client};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, DeleteRequest, Put, PutRequest, ReturnValue, TransactWriteItem, Update, WriteRequest,
};
use model::limit::Refusal;
use model::metrics::tally::Tally;
use model::session::{Amr, Session};
use model::trail::{Event, Target};
use serde::Serialize;
use wire::id::UserId;

use crate::table::error::{Error, failure, is_uncertain};
use crate::table::item::{Item, Key, integer, string};
use crate::table::label::{Conflict, Label};
use crate::table::trail_facts::TrailFacts;

/// The attribute that identifies the last put or update of an item by
/// [`Store::write_unrecorded`](crate::Store::write_unrecorded) or the variant that returns the
/// item.
const MARK: &str = "mark";

/// A write with its condition.
#[derive(Debug, Clone)]
pub struct Write {
    key: Key,
    kind: Kind,
    condition: Option<String>,
    values: Item,
    names: HashMap<String, String>,
    refusal: Option<Refusal>,
    label: Option<Label>,
    facts: TrailFacts,
    /// Whether the item can carry the trail entry of its request, unless a new session does.
    pub(crate) can_carry: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Put(Item),
    Update(String),
    Delete,
    Check,
}

impl Write {
    fn new(key: Key, kind: Kind) -> Self {
        Self {
            key,
            kind,
            condition: None,
            values: Item::new(),
            names: HashMap::new(),
            refusal: None,
            label: None,
            facts: TrailFacts::default(),
            can_carry: false,
        }
    }

    /// Puts an item that must not exist yet.
    pub(crate) fn create<T: Serialize>(key: Key, entity: &T) -> Result<Self, Error> {
        let put = Self::put(key, entity)?;
        Ok(put.on("attribute_not_exists(pk)"))
    }

    /// Puts an item, and replaces an existing item.
    pub(crate) fn put<T: Serialize>(key: Key, entity: &T) -> Result<Self, Error> {
        let mut item = key.item();
        item.insert("d".to_owned(), serde_dynamo::to_attribute_value(entity)?);
        Ok(Self::new(key, Kind::Put(item)))
    }

    /// Updates the item with a DynamoDB update expression.
    pub(crate) fn update(key: Key, expression: impl Into<String>) -> Self {
        Self::new(key, Kind::Update(expression.into()))
    }

    /// Sets the update expression.
    pub(crate) fn expression(self, expression: String) -> Self {
        Self { kind: Kind::Update(expression), ..self }
    }

    pub(crate) fn delete(key: Key) -> Self {
        Self::new(key, Kind::Delete)
    }

    /// Checks a condition without writing; the transaction fails if the condition is not met.
    pub(crate) fn check(key: Key, condition: &str) -> Self {
        Self::look(key).on(condition)
    }

    /// Like [`Self::check`], but without a condition, which the caller must add.
    pub(crate) fn look(key: Key) -> Self {
        Self::new(key, Kind::Check)
    }

    /// Sets the condition, a DynamoDB expression.
    pub(crate) fn on(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets a value for the expressions; the name of the value includes the colon.
    pub(crate) fn value(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Sets the attribute for a `#` placeholder in the expressions. Placeholders are needed because
    /// DynamoDB reserves some words.
    pub(crate) fn name(mut self, placeholder: &str, attribute: &str) -> Self {
        self.names.insert(placeholder.to_owned(), attribute.to_owned());
        self
    }

    /// For a condition that fails when a limit is reached, sets the refusal to report.
    pub(crate) fn or_refuse(mut self, refusal: Refusal) -> Self {
        self.refusal = Some(refusal);
        self
    }

    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// Sets the label under which a failed condition is reported.
    pub(crate) fn labelled(mut self, label: Label) -> Self {
        self.label = Some(label);
        self
    }

    pub(crate) fn label(&self) -> Option<Label> {
        self.label
    }

    /// The error to report if the condition fails.
    pub(crate) fn meaning(&self) -> Error {
        self.refusal.map_or_else(|| Error::Conflict(Conflict::new(self.label)), Error::Limited)
    }

    /// Sets the user whose account the write changes, for the trail entry.
    pub fn about(mut self, user: impl Into<Option<UserId>>) -> Self {
        self.facts.about(user.into());
        self
    }

    /// Adds events to the trail entry.
    pub fn tells(mut self, events: impl IntoIterator<Item = Event>) -> Self {
        self.facts.events(events);
        self
    }

    /// Sets the authentication methods of the user, for the trail entry.
    pub(crate) fn proved_by(mut self, amr: &[Amr]) -> Self {
        self.facts.method(amr);
        self
    }

    /// Records in the trail entry that a session was started.
    pub(crate) fn begins(mut self, session: &Session) -> Self {
        self.facts.session(session);
        self
    }

    /// Adds targets to the trail entry.
    pub fn targets(mut self, targets: impl IntoIterator<Item = Target>) -> Self {
        self.facts.targets(targets);
        self
    }

    /// Adds the effect of the write on the project's totals to the trail entry.
    pub fn tallies(mut self, tally: &Tally) -> Self {
        self.facts.tally(tally);
        self
    }

    /// Whether the write puts a new session, which can carry its trail entry.
    pub(crate) fn begins_session(&self) -> bool {
        self.facts.session.is_some() && matches!(self.kind, Kind::Put(_))
    }

    /// Adds an attribute that a put or update stores in the item. Has no effect on other writes.
    pub(crate) fn storing(mut self, name: &str, value: AttributeValue) -> Self {
        match &mut self.kind {
            Kind::Put(item) => drop(item.insert(name.to_owned(), value)),
            Kind::Update(expression) => {
                let rest = expression.strip_prefix("SET ").map_or_else(|| format!(" {expression}"), |rest| format!(", {rest}"));
                *expression = format!("SET {name} = :{name}{rest}");
                self.values.insert(format!(":{name}"), value);
            }
            Kind::Delete | Kind::Check => {}
        }
        self
    }

    /// The entity that a put writes.
    pub(crate) fn put_entity(&self) -> Option<&AttributeValue> {
        if let Kind::Put(item) = &self.kind { item.get("d") } else { None }
    }

    pub(crate) fn facts(&self) -> &TrailFacts {
        &self.facts
    }

    /// Whether the write changes anything, unlike a check.
    pub(crate) fn changes_something(&self) -> bool {
        !matches!(self.kind, Kind::Check)
    }

    /// Sets a value to a serialized entity.
    pub(crate) fn entity<T: Serialize>(self, name: &str, entity: &T) -> Result<Self, Error> {
        Ok(self.value(name, serde_dynamo::to_attribute_value(entity)?))
    }

    /// Adds an attribute to a put item; has no effect on other writes.
    pub(crate) fn attribute(mut self, name: &str, value: AttributeValue) -> Self {
        if let Kind::Put(item) = &mut self.kind {
            item.insert(name.to_owned(), value);
        }
        self
    }

    /// Sets the time at which DynamoDB may delete a put item (TTL, in seconds; the deletion may be
    /// days late). Has no effect on updates, which must set the attribute themselves.
    pub(crate) fn expires(self, time: jiff::Timestamp) -> Self {
        self.attribute("ttl", integer(time.as_second()))
    }

    /// The put or delete as part of a batch. Batches do not support conditions.
    pub(crate) fn request(self) -> Result<WriteRequest, Error> {
        let refused = |error: aws_sdk_dynamodb::error::BuildError| Error::Refused(error.to_string());
        let request = WriteRequest::builder();
        let request = match self.kind {
            Kind::Put(item) => request.put_request(PutRequest::builder().set_item(Some(item)).build().map_err(refused)?),
            Kind::Delete => request.delete_request(DeleteRequest::builder().set_key(Some(self.key.item())).build().map_err(refused)?),
            Kind::Update(_) | Kind::Check => return Err(Error::Refused("a batch has only puts and deletions".to_owned())),
        };
        Ok(request.build())
    }

    pub(crate) fn transaction_item(self, table: &str) -> Result<TransactWriteItem, Error> {
        let Self { key, kind, condition, values, names, .. } = self;
        let (values, names, key) = (unless_empty(values), unless_empty(names), Some(key.item()));
        // Each of the SDK's four builders has these setters, but there is no common trait.
        macro_rules! conditional {
            ($builder:expr) => {
                $builder
                    .table_name(table)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(|error| Error::Refused(error.to_string()))?
            };
        }
        let item = TransactWriteItem::builder();
        let item = match kind {
            Kind::Put(put) => item.put(conditional!(Put::builder().set_item(Some(put)))),
            Kind::Update(expression) => item.update(conditional!(Update::builder().set_key(key).update_expression(expression))),
            Kind::Delete => item.delete(conditional!(Delete::builder().set_key(key))),
            Kind::Check => item.condition_check(conditional!(ConditionCheck::builder().set_key(key))),
        };
        Ok(item.build())
    }

    /// Adds `mark` to the item that a put or update writes, to show later whether the write was
    /// executed. Has no effect on other writes.
    pub(crate) fn marked(self, mark: &str) -> Self {
        self.storing(MARK, string(mark))
    }

    /// Whether the write with this mark was executed, according to the item at its key.
    pub(crate) fn is_done(&self, found: Option<&Item>, mark: &str) -> bool {
        match self.kind {
            Kind::Put(_) | Kind::Update(_) => found.is_some_and(|item| item.get(MARK) == Some(&string(mark))),
            Kind::Delete => found.is_none(),
            Kind::Check => false,
        }
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    /// Executes the write outside a transaction; does nothing for a check. If the write fails, the
    /// flag says whether an earlier attempt may have been executed.
    pub(crate) async fn send(self, client: &Client, table: &str) -> Result<(), (Error, bool)> {
        let Self { key, kind, condition, values, names, .. } = self;
        let (values, names, key) = (unless_empty(values), unless_empty(names), Some(key.item()));
        match kind {
            Kind::Put(item) => {
                let put = PutItemInput::builder().table_name(table).set_item(Some(item)).set_condition_expression(condition);
                let put = put.set_expression_attribute_names(names).set_expression_attribute_values(values);
                client.call(put).await.map(drop).map_err(judged)
            }
            Kind::Update(expression) => {
                let update = UpdateItemInput::builder().table_name(table).set_key(key).update_expression(expression);
                let update = update.set_condition_expression(condition);
                let update = update.set_expression_attribute_names(names).set_expression_attribute_values(values);
                client.call(update).await.map(drop).map_err(judged)
            }
            Kind::Delete => {
                let delete = DeleteItemInput::builder().table_name(table).set_key(key).set_condition_expression(condition);
                let delete = delete.set_expression_attribute_names(names).set_expression_attribute_values(values);
                client.call(delete).await.map(drop).map_err(judged)
            }
            Kind::Check => Ok(()),
        }
    }

    /// Executes an update and returns the updated item.
    pub(crate) async fn send_returning(self, client: &Client, table: &str) -> Result<Item, Error> {
        self.send_update(client, table).await.map_err(|(error, _)| error)
    }

    /// Like [`Self::send_returning`]. If the update fails, the flag says whether an earlier attempt
    /// may have been executed.
    pub(crate) async fn send_update(self, client: &Client, table: &str) -> Result<Item, (Error, bool)> {
        let Self { key, kind, condition, values, names, .. } = self;
        let (values, names, key) = (unless_empty(values), unless_empty(names), Some(key.item()));
        let Kind::Update(expression) = kind else { return Err((Error::Refused("only an update returns its item".to_owned()), false)) };
        let update = UpdateItemInput::builder().table_name(table).set_key(key).update_expression(expression);
        let update = update.set_condition_expression(condition).set_expression_attribute_values(values);
        let update = update.set_expression_attribute_names(names).return_values(ReturnValue::AllNew);
        Ok(client.call(update).await.map_err(judged)?.attributes.unwrap_or_default())
    }
}

/// The map, or `None` if it is empty, because DynamoDB rejects empty maps.
fn unless_empty<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    (!map.is_empty()).then_some(map)
}

fn judged<E: ProvideErrorMetadata + std::fmt::Debug>(error: CallError<E>) -> (Error, bool) {
    let uncertain = is_uncertain(&error);
    (failure(error), uncertain)
}
