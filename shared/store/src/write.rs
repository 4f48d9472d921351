//! One conditional write, alone or in a transaction.

use std::collections::HashMap;

use aws::{Client, Failure};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Delete, Put, ReturnValue, TransactWriteItem, Update};
use model::limit::Refused;
use model::session::{Amr, Session};
use model::trail::{Event, Target};
use serde::Serialize;
use wire::id::UserId;

use crate::error::{Error, failure, is_uncertain};
use crate::item::{Item, Key, integer, string};
use crate::label::{Conflict, Label};
use crate::told::Told;

/// The attribute of the last write that was made alone.
const MARK: &str = "mark";

/// A write, with the condition on which it happens.
#[derive(Debug, Clone)]
pub struct Write {
    key: Key,
    kind: Kind,
    condition: Option<String>,
    values: Item,
    names: HashMap<String, String>,
    refusal: Option<Refused>,
    label: Option<Label>,
    told: Told,
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
        Self { key, kind, condition: None, values: Item::new(), names: HashMap::new(), refusal: None, label: None, told: Told::default() }
    }

    /// Puts an item that is not there yet.
    pub(crate) fn create<T: Serialize>(key: Key, entity: &T) -> Result<Self, Error> {
        let put = Self::put(key, entity)?;
        Ok(put.on("attribute_not_exists(pk)"))
    }

    /// Puts an item, whatever was there.
    pub(crate) fn put<T: Serialize>(key: Key, entity: &T) -> Result<Self, Error> {
        let mut item = key.item();
        item.insert("d".to_owned(), serde_dynamo::to_attribute_value(entity)?);
        Ok(Self::new(key, Kind::Put(item)))
    }

    /// Updates the item by an update expression of DynamoDB.
    pub(crate) fn update(key: Key, expression: impl Into<String>) -> Self {
        Self::new(key, Kind::Update(expression.into()))
    }

    /// Sets the expression of an update.
    pub(crate) fn expression(self, expression: String) -> Self {
        Self { kind: Kind::Update(expression), ..self }
    }

    pub(crate) fn delete(key: Key) -> Self {
        Self::new(key, Kind::Delete)
    }

    /// Writes nothing, and fails the transaction when its condition does not hold.
    pub(crate) fn check(key: Key, condition: &str) -> Self {
        Self::look(key).on(condition)
    }

    /// [`Self::check`] of a condition that is still to say.
    pub(crate) fn look(key: Key) -> Self {
        Self::new(key, Kind::Check)
    }

    /// Sets the condition, an expression of DynamoDB.
    pub(crate) fn on(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets a value that an expression names, with its colon.
    pub(crate) fn value(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Sets an attribute that an expression names by a placeholder with a number sign: DynamoDB reserves some words.
    pub(crate) fn name(mut self, placeholder: &str, attribute: &str) -> Self {
        self.names.insert(placeholder.to_owned(), attribute.to_owned());
        self
    }

    /// Sets what it means that the condition does not hold: a limit is reached.
    pub(crate) fn or_refuse(mut self, refusal: Refused) -> Self {
        self.refusal = Some(refusal);
        self
    }

    pub(crate) fn refusal(&self) -> Option<Refused> {
        self.refusal
    }

    /// Sets what the write is told apart by when its condition does not hold.
    pub(crate) fn labelled(mut self, label: Label) -> Self {
        self.label = Some(label);
        self
    }

    pub(crate) fn label(&self) -> Option<Label> {
        self.label
    }

    /// What it means that its condition does not hold.
    pub(crate) fn meaning(&self) -> Error {
        self.refusal.map_or_else(|| Error::Conflict(Conflict::new(self.label)), Error::Limited)
    }

    /// Says in the trail whose account it changes.
    pub fn about(mut self, user: impl Into<Option<UserId>>) -> Self {
        self.told.about(user.into());
        self
    }

    /// Says in the trail what it does to the account.
    pub fn tells(mut self, events: impl IntoIterator<Item = Event>) -> Self {
        self.told.events(events);
        self
    }

    /// Says in the trail how its user was proved to be there.
    pub(crate) fn proved_by(mut self, amr: &[Amr]) -> Self {
        self.told.method(amr);
        self
    }

    /// Says in the trail that it begins a session.
    pub(crate) fn begins(mut self, session: &Session) -> Self {
        self.told.session(session);
        self
    }

    /// Says in the trail what else it is about.
    pub fn targets(mut self, targets: impl IntoIterator<Item = Target>) -> Self {
        self.told.targets(targets);
        self
    }

    pub(crate) fn told(&self) -> &Told {
        &self.told
    }

    /// Whether it is more than a look.
    pub(crate) fn changes_something(&self) -> bool {
        !matches!(self.kind, Kind::Check)
    }

    /// Sets a value to an entity.
    pub(crate) fn entity<T: Serialize>(self, name: &str, entity: &T) -> Result<Self, Error> {
        Ok(self.value(name, serde_dynamo::to_attribute_value(entity)?))
    }

    /// Adds an attribute to an item that is put.
    pub(crate) fn attribute(mut self, name: &str, value: AttributeValue) -> Self {
        if let Kind::Put(item) = &mut self.kind {
            item.insert(name.to_owned(), value);
        }
        self
    }

    /// When DynamoDB may delete the item that is put (TTL, seconds; it is late by hours).
    pub(crate) fn expires(self, time: jiff::Timestamp) -> Self {
        self.attribute("ttl", integer(time.as_second()))
    }

    pub(crate) fn transaction_item(self, table: &str) -> Result<TransactWriteItem, Error> {
        let Self { key, kind, condition, values, names, .. } = self;
        let (values, names, key) = (unless_empty(values), unless_empty(names), Some(key.item()));
        let item = TransactWriteItem::builder();
        let item = match kind {
            Kind::Put(put) => item.put(
                Put::builder()
                    .table_name(table)
                    .set_item(Some(put))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(|e| Error::Refused(e.to_string()))?,
            ),
            Kind::Update(expression) => item.update(
                Update::builder()
                    .table_name(table)
                    .set_key(key)
                    .update_expression(expression)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(|e| Error::Refused(e.to_string()))?,
            ),
            Kind::Delete => item.delete(
                Delete::builder()
                    .table_name(table)
                    .set_key(key)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(|e| Error::Refused(e.to_string()))?,
            ),
            Kind::Check => item.condition_check(
                ConditionCheck::builder()
                    .table_name(table)
                    .set_key(key)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(|e| Error::Refused(e.to_string()))?,
            ),
        };
        Ok(item.build())
    }

    /// Leaves a mark in the item, so that whoever is not sure whether the write was made can see it.
    pub(crate) fn marked(mut self, mark: &str) -> Self {
        match &mut self.kind {
            Kind::Put(item) => drop(item.insert(MARK.to_owned(), string(mark))),
            Kind::Update(expression) => {
                let rest = expression.strip_prefix("SET ").map_or_else(|| format!(" {expression}"), |rest| format!(", {rest}"));
                *expression = format!("SET {MARK} = :mark{rest}");
                self.values.insert(":mark".to_owned(), string(mark));
            }
            Kind::Delete | Kind::Check => {}
        }
        self
    }

    /// Whether the write with this mark was made, by what is at its key.
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

    /// Sends the write alone. A failure says whether an answer was lost before it.
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

    /// Sends an update and gives the item as it is afterwards.
    pub(crate) async fn send_returning(self, client: &Client, table: &str) -> Result<Item, Error> {
        self.send_update(client, table).await.map_err(|(error, _)| error)
    }

    /// The same. A failure says whether an answer was lost before it.
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

/// DynamoDB refuses empty ones.
fn unless_empty<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    (!map.is_empty()).then_some(map)
}

fn judged<E: ProvideErrorMetadata + std::fmt::Debug>(error: Failure<E>) -> (Error, bool) {
    let uncertain = is_uncertain(&error);
    (failure(error), uncertain)
}
