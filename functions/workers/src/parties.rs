//! The senders and recipients of many entries, which are read together. Senders are projects, and
//! recipients are users.

use std::collections::HashMap;

use flows::App;
use model::project::SendingProject;
use model::user::User;
use store::outbox::OutboxRow;
use wire::id::{ProjectId, UserId};

/// The projects and users of several entries, as they were when last read.
#[derive(Default)]
pub(crate) struct Parties {
    projects: HashMap<ProjectId, SendingProject>,
    users: HashMap<(ProjectId, UserId), Option<User>>,
}

impl Parties {
    pub(crate) async fn read(app: &App, rows: &[OutboxRow]) -> Result<Self, store::Error> {
        let projects = rows.iter().map(|row| row.project.clone()).collect();
        let users = rows.iter().filter_map(|row| Some((row.project.clone(), row.entry.to.user_id()?))).collect();
        let (projects, users) = app.store.parties(projects, users).await?;
        Ok(Self { projects, users })
    }

    pub(crate) fn project(&self, id: &ProjectId) -> Option<&SendingProject> {
        self.projects.get(id)
    }

    /// The project of an entry, and the user to whom its email goes. The project or the user is
    /// `None` if it does not exist. The user is also `None` if the email does not go to a user. If
    /// the entry was edited after [`Self::read`] read the users, the new recipient is read
    /// separately.
    pub(crate) async fn to(&self, app: &App, row: &OutboxRow) -> Result<(Option<&SendingProject>, Option<User>), store::Error> {
        let user = match row.entry.to.user_id() {
            None => None,
            Some(id) => match self.users.get(&(row.project.clone(), id)) {
                Some(user) => user.clone(),
                None => app.store.user(&row.project, id).await?.map(|row| row.user),
            },
        };
        Ok((self.project(&row.project), user))
    }
}
