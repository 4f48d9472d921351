//! The actions on the table that a function's role may permit.

/// An IAM action of DynamoDB, without its prefix. A transaction needs the actions of its writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableAction {
    /// `dynamodb:BatchGetItem`.
    BatchGetItem,
    /// `dynamodb:ConditionCheckItem`.
    ConditionCheckItem,
    /// `dynamodb:DeleteItem`.
    DeleteItem,
    /// `dynamodb:GetItem`.
    GetItem,
    /// `dynamodb:PutItem`.
    PutItem,
    /// `dynamodb:Query`.
    Query,
    /// `dynamodb:UpdateItem`.
    UpdateItem,
}
