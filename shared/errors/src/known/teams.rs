//! Errors about teams: members, invitations and permissions.

macro_rules! teams {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The team does not exist, or is not visible to the caller.
        #[error("team {team_id} does not exist")]
        #[hint("Check the team id, and whether the user is a member of the team.")]
        #[answer(NOT_FOUND, Sdks::All)]
        TeamNotFound { team_id: String },

        /// The project does not let clients create teams.
        #[error("the project does not let clients create teams")]
        #[hint("Set the project's `config.client_team_creation_enabled` to `true`, or create the team with server access.")]
        #[answer(FORBIDDEN, Sdks::None)]
        TeamCreationNotEnabled,

        /// The user has created the maximum number of teams.
        #[error("a user can create at most {max} teams: delete one first")]
        #[hint("Delete a team, increase `config.max_teams_per_user`, or create the team with server access.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyTeams { max: usize },

        /// The user belongs to the maximum number of teams.
        #[error("a user can belong to at most {max} teams: leave one first")]
        #[hint("Leave a team, or add the user to the new team with server access.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyTeamMemberships { max: usize },

        /// The team owns projects, so it cannot be deleted, and its last member cannot leave it.
        #[error("team {team_id} owns projects, which nobody could administer after this change")]
        #[hint("First transfer the projects to another team, or delete them.")]
        #[answer(CONFLICT, Sdks::None)]
        TeamOwnsProjects { team_id: String },

        /// The user is not a member of the team.
        #[error("user {user_id} is not a member of team {team_id}")]
        #[hint("Add the user to the team first.")]
        #[answer(NOT_FOUND, Sdks::All)]
        TeamMembershipNotFound { team_id: String, user_id: String },

        /// The user is already a member of the team.
        #[error("the user is already a member of the team")]
        #[hint("No action is needed.")]
        #[answer(CONFLICT, Sdks::All)]
        TeamMembershipAlreadyExists,

        /// A restricted user cannot accept an invitation.
        #[error("a restricted user cannot accept an invitation")]
        #[hint("Resolve the restriction first; `details` contains the reason.")]
        #[answer(FORBIDDEN, Sdks::All)]
        TeamInvitationRestrictedUserNotAllowed { restricted_reason: RestrictedReason },

        /// The invitation was sent to an address that the user has not verified.
        #[error("the invitation was sent to an address that this user has not verified")]
        #[hint("Sign in with the invited address, or verify the address for this user.")]
        #[answer(FORBIDDEN, Sdks::Since2_8_108)]
        TeamInvitationEmailMismatch,

        /// The team has the maximum number of unanswered invitations from members.
        #[error("a team can have at most {max} unanswered invitations: revoke one first")]
        #[hint("Revoke an invitation, wait until one is accepted or expires, or invite the user with server access.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyInvitations { max: usize },

        /// The operation requires a team permission that the user does not have.
        #[error("this operation requires the permission {permission_id} in team {team_id}")]
        #[hint("Grant the user the permission in `details`, or use server access.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        TeamPermissionRequired { team_id: String, user_id: String, permission_id: String },

        /// The user does not have the permission in the team.
        #[error("user {user_id} does not have the permission {permission_id} in team {team_id}")]
        #[hint("Check the permission id and the team.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        TeamPermissionNotFound { team_id: String, user_id: String, permission_id: String },

        /// The permission does not exist, or cannot be revoked because the user does not have it.
        #[error("the permission {permission_id} does not exist, or the user does not have it")]
        #[hint("Check the permission id, or define the permission first.")]
        #[answer(NOT_FOUND, Sdks::All)]
        PermissionNotFound { permission_id: String },

        /// The permission has the wrong scope: it is a team permission instead of a project
        /// permission, or the reverse.
        #[error("the permission {permission_id} has the scope {actual_scope}, not {expected_scope}")]
        #[hint("Use the operation for the permission's own scope, which is in `details`.")]
        #[answer(NOT_FOUND, Sdks::All)]
        WrongPermissionScope {
            permission_id: String,
            expected_scope: String,
            actual_scope: String,
        },

        /// A permission that this permission should contain does not exist.
        #[error("the contained permission {permission_id} does not exist")]
        #[hint("Define the contained permission first.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        ContainedPermissionNotFound { permission_id: String },

        /// A permission with this id already exists.
        #[error("the permission {permission_id} already exists")]
        #[hint("Choose another id, or update the existing permission.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PermissionIdAlreadyExists { permission_id: String },

        /// The permission would contain itself.
        #[error("the permission {permission_id} would contain itself")]
        #[hint("Remove the cycle from the contained permissions.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        PermissionContainsItself { permission_id: String },

        /// The project has the maximum number of permissions of this scope.
        #[error("a project can define at most {max} permissions per scope: delete one first")]
        #[hint("Delete a permission that you no longer use.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyPermissions { max: usize },

    } };
}
