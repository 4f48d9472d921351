//! The teams that a user has created with client access, which are limited by a quota.
//!
//! The user's item contains the ids of these teams (attribute `founded`, a set of strings), so that
//! one condition decides whether another team is allowed. The transaction that deletes a team
//! removes the id of the team from the set. Teams from earlier versions are not in any set.

use aws_sdk_dynamodb::types::AttributeValue;
use wire::id::{ProjectId, TeamId, UserId};

use crate::keys::user_key;
use crate::table::{Label, Write, integer, string};

/// Like [`joins`](super::membership::joins), but for a new team of the user. Also adds the team to
/// the set of teams that the user has created; fails with [`Label::Count`] if the set already
/// contains `max` teams.
pub fn founds(project: &ProjectId, user: UserId, team: TeamId, max: usize) -> Write {
    Write::update(user_key(project, user), "SET version = version + :one ADD founded :team")
        .labelled(Label::Count)
        .on("attribute_exists(pk) AND (attribute_not_exists(founded) OR size(founded) < :max)")
        .value(":one", integer(1))
        .value(":team", AttributeValue::Ss(vec![team.to_string()]))
        .value(":max", integer(max))
}

/// Removes a team that is being deleted from the teams that the user has created, and clears the
/// user's selection if the team `is_selected`. Fails with [`Label::User`] if the user does not
/// exist, and without a label if the user has another selection.
pub(crate) fn unfounds(project: &ProjectId, user: UserId, team: TeamId, is_selected: bool) -> Write {
    let write = if is_selected {
        let update = "REMOVE d.selected_team_id SET version = version + :one DELETE founded :teams";
        let write = Write::update(user_key(project, user), update).on("d.selected_team_id = :team");
        write.value(":one", integer(1)).value(":team", string(team.to_string()))
    } else {
        Write::update(user_key(project, user), "DELETE founded :teams").on("attribute_exists(pk)").labelled(Label::User)
    };
    write.value(":teams", AttributeValue::Ss(vec![team.to_string()]))
}
