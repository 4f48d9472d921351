//! Pages of lists.

use api::product::cursor;
use api::product::page::Pagination;
use errors::{Error, KnownError};
use flows::App;
use model::project::Project;
use wire::id::UserId;

/// The member after whom a page of a team's members begins.
pub(crate) fn after(app: &App, project: &Project, list: &str, given: Option<&str>) -> Result<Option<UserId>, KnownError> {
    let text: Option<String> = given.map(|text| cursor::decode(app, &project.id, list, text)).transpose()?;
    text.map(|text| UserId::parse(&text).map_err(|_| KnownError::InvalidCursor)).transpose()
}

/// The cursor of the page after this member.
pub(crate) fn next(app: &App, project: &Project, list: &str, last: Option<UserId>) -> Result<Pagination, Error> {
    let next_cursor = last.map(|last| cursor::encode(app, &project.id, list, &last.to_string())).transpose()?;
    Ok(Pagination { next_cursor })
}
