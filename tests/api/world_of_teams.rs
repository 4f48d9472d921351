//! The items that the events of teams need: a team of two, a team that invites, permissions,
//! invitations, and the project `internal` with a user who owns a project.

use model::code::Code;
use model::email::Email;
use model::permission::{Grant, PermissionId, Rbac, Scope};
use model::project::config::Levels;
use model::project::{Project, ProjectConfig};
use model::session::token::Subject;
use model::session::{Session, refresh_token};
use model::team::invitation::{Invitation, LIFE};
use model::team::{Member, Team};
use model::user::User;
use store::team::membership::{self, MemberRow};
use store::team::{self, invitation};
use store::{profile_image, session, user};
use support::TestApp;
use wire::clock::after;
use wire::id::{InvitationId, ProjectId, TeamId, UserId};

use crate::events::{CODE, picture};

/// The team of `ada@example.com`, who has all permissions of the team. In the project `internal`, a
/// team of [`OWNER`] has the same id.
pub(crate) const TEAM: &str = "8d3c1b0a-6f2e-4a59-9c7d-1e2f3a4b5c6d";
/// A team that invites `ada@example.com`. In the project `internal`, another team of [`OWNER`] has
/// the same id.
const OTHER_TEAM: &str = "9e4d2c1b-7a3f-4b60-8d8e-2f3a4b5c6d7e";
const MEMBER: &str = "c2a7e5d4-1b3f-4e68-a9c0-5d6e7f8091a2";
/// A user of the project `internal`.
const OWNER: &str = "b6d8f0a1-3c5e-4f79-9b1d-7e8f9a0b1c2d";
/// A project that [`OWNER`] owns through the team in `internal` with the id [`TEAM`].
const OWNED: &str = "7acbe33f-05c3-4d7f-86d2-ccb7f0b52174";
/// A user without a team.
const STRANGER: &str = "d4b8f6e5-2c40-4f79-8ad1-6e7f8091a2b3";
const INVITATION: &str = "018f0b6c-2a3b-7c4d-8e5f-6a7b8c9d0e1f";
/// An invitation to [`TEAM`] for a different address.
const SENT: &str = "018f0b6c-3b4c-7d5e-9f60-7b8c9d0e1f20";

/// The project permission that the events use. It is the fourth permission, because every project
/// has two, and a third was added to the events' project earlier.
pub(crate) fn audit() -> Grant {
    Grant("4".to_owned())
}

fn granted(id: &str) -> std::collections::BTreeSet<Grant> {
    [Rbac::default().grant(&PermissionId::parse(id).unwrap(), Scope::Team).unwrap()].into()
}

fn invitation(app: &TestApp, id: &str, team: &str, email: &str, code: &Code) -> Invitation {
    Invitation {
        id: InvitationId::parse(id).unwrap(),
        team_id: TeamId::parse(team).unwrap(),
        team_created_at: None,
        email: Email::parse(email).unwrap(),
        expires_at: after(app.now(), LIFE),
        invited_by: None,
        sender_epoch: 0,
        nonce_digest: code.nonce_digest(),
        used: false,
    }
}

pub(crate) async fn write(app: &TestApp, project: &ProjectId, ada: &User) {
    let (entropy, now) = (&app.app.entropy, app.now());
    let team = TeamId::parse(TEAM).unwrap();
    let mut own = Team::new(team, "Analytical Engines".to_owned(), now);
    own.uploaded_image = Some(picture().digest());
    let other = Team::new(TeamId::parse(OTHER_TEAM).unwrap(), "Difference Engines".to_owned(), now);
    let [member, stranger] = [MEMBER, STRANGER].map(|id| User { id: UserId::parse(id).unwrap(), ..User::new(entropy, now) });
    let (code, sent) = (Code::parse(CODE).unwrap(), Code::new(entropy.code()));
    let to_ada = Invitation { invited_by: Some(member.id), ..invitation(app, INVITATION, OTHER_TEAM, "ada@example.com", &code) };
    let to_eve = invitation(app, SENT, TEAM, "eve@example.com", &sent);
    let mut writes = vec![
        team::create(project, &own).unwrap(),
        team::create(project, &other).unwrap(),
        user::create(project, &member).unwrap(),
        user::create(project, &stranger).unwrap(),
        profile_image::put(project, team, &picture().digest(), &picture()).unwrap(),
    ];
    writes.extend(
        membership::create(project, ada, &MemberRow::new(team, ada.id, Member::new(now), granted("team_admin")).selected(true)).unwrap(),
    );
    writes
        .extend(membership::create(project, &member, &MemberRow::new(team, member.id, Member::new(now), granted("team_member"))).unwrap());
    writes.extend(
        membership::create(project, &member, &MemberRow::new(other.id, member.id, Member::new(now), granted("team_admin"))).unwrap(),
    );
    writes.extend(invitation::create(project, &to_ada, &code).unwrap());
    writes.extend(invitation::create(project, &to_eve, &sent).unwrap());
    app.app.store.transact(writes).await.unwrap();
}

/// Creates the project `internal`, with a user and the user's two teams and project. Does nothing
/// if the project exists, because all projects of a table share it. Returns the user's access
/// token.
pub(crate) async fn write_owner(app: &TestApp) -> String {
    let (entropy, now, project) = (&app.app.entropy, app.now(), ProjectId::internal());
    let user = User { id: UserId::parse(OWNER).unwrap(), ..User::new(entropy, now) };
    if app.app.store.project(&project).await.unwrap().is_none() {
        app.internal_project().await;
        let team = Team::new(TeamId::parse(TEAM).unwrap(), "Owners".to_owned(), now);
        let mut writes = vec![user::create(&project, &user).unwrap(), team::create(&project, &team).unwrap()];
        writes.extend(
            membership::create(&project, &user, &MemberRow::new(team.id, user.id, Member::new(now), granted("team_admin"))).unwrap(),
        );
        let other = Team::new(TeamId::parse(OTHER_TEAM).unwrap(), "Weavers".to_owned(), now);
        writes.push(team::create(&project, &other).unwrap());
        writes.extend(
            membership::create(&project, &user, &MemberRow::new(other.id, user.id, Member::new(now), granted("team_admin"))).unwrap(),
        );
        app.app.store.transact(writes).await.unwrap();
        let owned = Project { owner_team_id: Some(TEAM.to_owned()), ..Project::new(ProjectId::parse(OWNED).unwrap(), "Notes", now) };
        app.app.store.create_owned_project(&owned, &Levels::of(&owned), team.id, user.id).await.unwrap();
    }
    let session = Session::start(&user, &ProjectConfig::default().sessions, None, entropy, now);
    app.app.store.write(session::create(&project, &session, &refresh_token::draw(entropy, &session)).unwrap()).await.unwrap();
    let subject = Subject::of(&user, &project, &ProjectConfig::default(), &session);
    app.app.signer.sign(&subject, now, app.app.settings.access_token_life)
}
