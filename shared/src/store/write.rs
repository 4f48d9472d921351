//! One conditional write, alone or in a transaction.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Delete, Put, TransactWriteItem, Update};
use serde::Serialize;

use super::{Error, Item, Key, failure, integer};

/// A write, with the condition on which it happens.
#[derive(Debug, Clone)]
pub struct Write {
    key: Key,
    kind: Kind,
    condition: Option<String>,
    values: Item,
    names: HashMap<String, String>,
}

#[derive(Debug, Clone)]
enum Kind {
    Put(Item),
    Update(String),
    Delete,
    Check,
}

impl Write {
    /// Puts an item that is not there yet.
    pub(super) fn create<T: Serialize>(key: Key, entity: &T) -> Result<Self, Error> {
        let put = Self::put(key, entity)?;
        Ok(put.on("attribute_not_exists(pk)"))
    }

    /// Puts an item, whatever was there.
    pub(super) fn put<T: Serialize>(key: Key, entity: &T) -> Result<Self, Error> {
        let mut item = key.item();
        item.insert("d".to_owned(), serde_dynamo::to_attribute_value(entity)?);
        Ok(Self { key, kind: Kind::Put(item), condition: None, values: Item::new(), names: HashMap::new() })
    }

    /// Updates the item by an update expression of DynamoDB.
    pub(super) fn update(key: Key, expression: impl Into<String>) -> Self {
        Self { key, kind: Kind::Update(expression.into()), condition: None, values: Item::new(), names: HashMap::new() }
    }

    pub(super) fn delete(key: Key) -> Self {
        Self { key, kind: Kind::Delete, condition: None, values: Item::new(), names: HashMap::new() }
    }

    /// Writes nothing, and fails the transaction when its condition does not hold.
    pub(super) fn check(key: Key, condition: &str) -> Self {
        Self { key, kind: Kind::Check, condition: Some(condition.to_owned()), values: Item::new(), names: HashMap::new() }
    }

    /// Sets the condition, an expression of DynamoDB.
    pub(super) fn on(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets a value that an expression names, with its colon.
    pub(super) fn value(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Sets an attribute that an expression names by a placeholder with a number sign: DynamoDB reserves some words.
    pub(super) fn name(mut self, placeholder: &str, attribute: &str) -> Self {
        self.names.insert(placeholder.to_owned(), attribute.to_owned());
        self
    }

    /// Sets a value to an entity.
    pub(super) fn entity<T: Serialize>(self, name: &str, entity: &T) -> Result<Self, Error> {
        Ok(self.value(name, serde_dynamo::to_attribute_value(entity)?))
    }

    /// Adds an attribute to an item that is put.
    pub(super) fn attribute(mut self, name: &str, value: AttributeValue) -> Self {
        if let Kind::Put(item) = &mut self.kind {
            item.insert(name.to_owned(), value);
        }
        self
    }

    /// When DynamoDB may delete the item that is put (TTL, seconds; it is late by hours).
    pub(super) fn expires(self, time: jiff::Timestamp) -> Self {
        self.attribute("ttl", integer(time.as_second()))
    }

    fn values(&self) -> Option<Item> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }

    fn names(&self) -> Option<HashMap<String, String>> {
        (!self.names.is_empty()).then(|| self.names.clone())
    }

    pub(super) fn transaction_item(self, table: &str) -> Result<TransactWriteItem, Error> {
        let (values, names, key) = (self.values(), self.names(), Some(self.key.item()));
        let item = TransactWriteItem::builder();
        let item = match self.kind {
            Kind::Put(put) => item.put(
                Put::builder()
                    .table_name(table)
                    .set_item(Some(put))
                    .set_condition_expression(self.condition)
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
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(|e| Error::Refused(e.to_string()))?,
            ),
            Kind::Delete => item.delete(
                Delete::builder()
                    .table_name(table)
                    .set_key(key)
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(|e| Error::Refused(e.to_string()))?,
            ),
            Kind::Check => item.condition_check(
                ConditionCheck::builder()
                    .table_name(table)
                    .set_key(key)
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(|e| Error::Refused(e.to_string()))?,
            ),
        };
        Ok(item.build())
    }

    pub(super) async fn send(self, client: &Client, table: &str) -> Result<(), Error> {
        let (values, names, key) = (self.values(), self.names(), Some(self.key.item()));
        match self.kind {
            Kind::Put(item) => client
                .put_item()
                .table_name(table)
                .set_item(Some(item))
                .set_condition_expression(self.condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .send()
                .await
                .map(drop)
                .map_err(failure),
            Kind::Update(expression) => client
                .update_item()
                .table_name(table)
                .set_key(key)
                .update_expression(expression)
                .set_condition_expression(self.condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .send()
                .await
                .map(drop)
                .map_err(failure),
            Kind::Delete => client
                .delete_item()
                .table_name(table)
                .set_key(key)
                .set_condition_expression(self.condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .send()
                .await
                .map(drop)
                .map_err(failure),
            Kind::Check => Ok(()),
        }
    }

    /// Sends an update and gives the item as it is afterwards.
    pub(super) async fn send_returning(self, client: &Client, table: &str) -> Result<Item, Error> {
        let (values, names, key) = (self.values(), self.names(), Some(self.key.item()));
        let Kind::Update(expression) = self.kind else { return Err(Error::Refused("only an update returns its item".to_owned())) };
        let request = client.update_item().table_name(table).set_key(key).update_expression(expression);
        let request = request.set_condition_expression(self.condition).set_expression_attribute_values(values);
        let request = request.set_expression_attribute_names(names);
        let answer = request.return_values(aws_sdk_dynamodb::types::ReturnValue::AllNew).send().await.map_err(failure)?;
        Ok(answer.attributes.unwrap_or_default())
    }
}
