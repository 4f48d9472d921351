//! `docs/api/quotas.md`: says how much clients can create.

use std::fmt::Write as _;

use model::quota::Quota;

use crate::operation::Operation;

const HEAD: &str = "\
# Quotas

Written by `cargo run -p infra -- render`. There is a maximum per owner for everything that a client
can create and that is kept until somebody removes it. Requests that would exceed the maximum are
refused with the error in the table, even if many requests arrive at the same time. The error's
`details` contain the maximum. Requests with server or admin access can create teams, memberships
and invitations without a maximum. Everything else is stored in the owner's item, which every
request reads, so the maximum applies to servers as well. Sets of API keys, which only
administrators can create, have a maximum because their list is not paginated.

For anonymous users, the operations in the table respond with 401
`ANONYMOUS_AUTHENTICATION_NOT_ALLOWED`, unless the project's `config.anonymous_creation_enabled` is
`true`. Anonymous users can never invite anybody, create a team's keys or upload pictures. Pictures
are refused because they can be large, although a user has only one picture. The personal team that
a user gets with `create_team_on_sign_up` does not count.

`config.max_teams_per_user` sets the maximum number of teams, from 0 to 200.

Sessions have no maximum. Otherwise, a new sign-in would sign out a device, and whoever knows a
password could end the owner's sessions. Sessions expire, and starting a session requires a proof.
Attempts at a proof are [limited](../security/sign-in.md). Lists of sessions are paginated, and a
request never reads all sessions of a user: all of them can be ended with a single write of the
user's item.

| owner | at most | refused with | how to make room | created by |
|---|---|---|---|---|
";

pub fn document(operations: &[Operation]) -> String {
    let mut document = HEAD.to_owned();
    for &quota in Quota::ALL {
        let row = quota.row();
        let code = row.code.map_or_else(|| "nothing".to_owned(), |code| format!("[`{code}`](../errors.md#{})", code.to_lowercase()));
        let created = row.operations.iter().filter_map(|name| operations.iter().find(|operation| operation.route.name == *name));
        let created: Vec<String> = created.map(|operation| format!("`{} {}`", operation.route.verb.name(), operation.route.path)).collect();
        let _ = writeln!(document, "| {} | {} {} | {code} | {} | {} |", row.owner, row.max, row.what, row.room, created.join(", "));
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quota_has_its_line_with_all_its_operations() {
        let document = document(&crate::operations::all());
        let lines: Vec<&str> = document.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
        assert_eq!(lines.len(), Quota::ALL.len());
        for (quota, line) in Quota::ALL.iter().zip(lines) {
            let count = line.rsplit(" | ").next().unwrap().matches(" /").count();
            assert_eq!(count, quota.row().operations.len(), "{line}");
        }
    }
}
