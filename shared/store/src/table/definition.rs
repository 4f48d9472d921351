//! The definition of the table: keys, indexes, TTL and stream. The gateway creates the table from
//! this definition; a test compares it with the deployment template.

use aws::Client;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableInputBuilder;
use aws_sdk_dynamodb::operation::create_table::{CreateTableError, CreateTableInput};
use aws_sdk_dynamodb::operation::describe_table::{DescribeTableError, DescribeTableInput};
use aws_sdk_dynamodb::operation::describe_time_to_live::DescribeTimeToLiveInput;
use aws_sdk_dynamodb::operation::update_time_to_live::UpdateTimeToLiveInput;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType, ScalarAttributeType,
    StreamSpecification, StreamViewType, TimeToLiveSpecification, TimeToLiveStatus,
};

use crate::table::error::{Error, failure};

/// A sparse index. The index's key attributes begin with its name: `gsi1pk` and `gsi1sk` for
/// `gsi1`.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Index {
    /// The name.
    pub name: &'static str,
    /// The attributes in the index: `ALL` for lists, which need whole items. `KEYS_ONLY`, which
    /// costs less to write, if the keys are sufficient or the items are read from the table in any
    /// case.
    pub projection: &'static str,
}

/// The indexes of the table.
pub const INDEXES: [Index; 2] = [Index { name: "gsi1", projection: "ALL" }, Index { name: "gsi2", projection: "KEYS_ONLY" }];
/// The attribute with the expiry time of an item, in seconds since the Unix epoch.
pub const TTL: &str = "ttl";
/// The attribute with the trail entry that an item carries.
pub(crate) const CARRIED: &str = "trail";

fn keys(pk: &str, sk: &str) -> Result<Vec<KeySchemaElement>, Error> {
    [(pk, KeyType::Hash), (sk, KeyType::Range)]
        .into_iter()
        .map(|(name, kind)| KeySchemaElement::builder().attribute_name(name).key_type(kind).build())
        .collect::<Result<_, _>>()
        .map_err(|error| Error::Refused(error.to_string()))
}

fn attribute(name: &str) -> Result<AttributeDefinition, Error> {
    let attribute = AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build();
    attribute.map_err(|error| Error::Refused(error.to_string()))
}

fn index(Index { name, projection }: &Index) -> Result<GlobalSecondaryIndex, Error> {
    GlobalSecondaryIndex::builder()
        .index_name(*name)
        .set_key_schema(Some(keys(&format!("{name}pk"), &format!("{name}sk"))?))
        .projection(Projection::builder().projection_type(ProjectionType::from(*projection)).build())
        .build()
        .map_err(|error| Error::Refused(error.to_string()))
}

/// The definition without the TTL, which must be set in a separate request.
pub fn definition(table: &str) -> Result<CreateTableInputBuilder, Error> {
    let mut input =
        CreateTableInput::builder().table_name(table).billing_mode(BillingMode::PayPerRequest).set_key_schema(Some(keys("pk", "sk")?));
    let of_indexes = INDEXES.iter().flat_map(|index| ["pk", "sk"].map(|key| format!("{}{key}", index.name)));
    for name in ["pk", "sk"].into_iter().map(str::to_owned).chain(of_indexes) {
        input = input.attribute_definitions(attribute(&name)?);
    }
    for definition in &INDEXES {
        input = input.global_secondary_indexes(index(definition)?);
    }
    let stream = StreamSpecification::builder().stream_enabled(true).stream_view_type(StreamViewType::NewAndOldImages).build();
    Ok(input.stream_specification(stream.map_err(|error| Error::Refused(error.to_string()))?))
}

/// Creates the table if it does not exist, and returns whether it was created. Also turns on the
/// TTL if it is off, because an earlier call may have created the table and then failed.
pub async fn create(client: &Client, table: &str) -> Result<bool, Error> {
    match client.call(DescribeTableInput::builder().table_name(table)).await {
        Ok(_) => {
            if !expires(client, table).await? {
                enable_expiry(client, table).await?;
            }
            Ok(false)
        }
        Err(error) if error.as_service_error().is_some_and(DescribeTableError::is_resource_not_found_exception) => {
            match client.call(definition(table)?).await {
                Ok(_) => {}
                // An earlier attempt, whose response was lost, created the table.
                Err(error) if error.as_service_error().is_some_and(CreateTableError::is_resource_in_use_exception) => {}
                Err(error) => return Err(failure(error)),
            }
            enable_expiry(client, table).await?;
            Ok(true)
        }
        Err(error) => Err(failure(error)),
    }
}

async fn expires(client: &Client, table: &str) -> Result<bool, Error> {
    let found = client.call(DescribeTimeToLiveInput::builder().table_name(table)).await.map_err(failure)?;
    let status = found.time_to_live_description.and_then(|ttl| ttl.time_to_live_status);
    Ok(matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)))
}

async fn enable_expiry(client: &Client, table: &str) -> Result<(), Error> {
    let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name(TTL).build();
    let ttl = ttl.map_err(|error| Error::Refused(error.to_string()))?;
    client.call(UpdateTimeToLiveInput::builder().table_name(table).time_to_live_specification(ttl)).await.map_err(failure).map(drop)
}
