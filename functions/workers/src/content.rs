//! What an entry of the outbox is rendered from: its sources, the project's own template and theme where there are any, and the link by which
//! its recipient refuses others of its kind.

use shared::App;
use shared::mail::builtin;
use shared::mail::render::{Context, Job, ProjectContext, UserContext};
use shared::mail::sandbox;
use shared::model::code::Code;
use shared::model::id::{DocumentId, ProjectId};
use shared::model::mail_document::{DocumentKind, MailDocument};
use shared::model::outbox::{DEFAULT_THEME, OutboxEntry};
use shared::model::outbox_work::Rendering;
use shared::model::project::Project;
use shared::model::session::after;
use shared::model::theme::Theme;
use shared::model::user::User;
use shared::store::mail_documents::{DocumentRow, document_key};
use shared::store::unsubscribe_links::{LIFE, UnsubscribeLink};
use shared::store::{self, Items, Key};
use uuid::Uuid;

/// A mail, rendered or not, and what its entry has to remember of it.
pub(crate) struct Rendered {
    /// The entry with the sources that were used, which somebody may look at and edit.
    pub(crate) entry: OutboxEntry,
    pub(crate) rendering: Rendering,
    pub(crate) unsubscribe_url: Option<String>,
}

impl Rendered {
    /// What a mail of a project that is gone becomes.
    pub(crate) fn of_nobody(entry: OutboxEntry) -> Self {
        Self { entry, rendering: Err("the project does not exist any more".to_owned()), unsubscribe_url: None }
    }
}

pub(crate) async fn render(app: &App, owner: &Project, user: Option<&User>, mut entry: OutboxEntry) -> Result<Rendered, store::Error> {
    let project = &owner.id;
    let keys = Keys::of(project, &entry);
    let mut items = app.store.get_many(keys.all()).await?;
    if let Some(template) = document(&mut items, keys.template.as_ref())? {
        entry.source.subject = Some(template.subject);
        entry.source.html = Some(template.html);
        entry.source.text = template.text;
        entry.source.theme_id = template.theme.map_or(entry.source.theme_id, Theme::id);
    }
    // A mail of ours has the project's theme, which it could not know when it was asked for.
    if entry.source.builtin.is_some() && entry.source.theme_id == Some(DEFAULT_THEME) {
        entry.source.theme_id = Some(owner.config.email.theme());
    }
    let theme = match entry.source.theme_id {
        None => Ok(None),
        Some(id) => theme(app, owner, id, &mut items).await?.map(Some).ok_or_else(|| format!("the theme {id} does not exist any more")),
    };
    let unsubscribe_url = match user {
        Some(user) if entry.category.can_be_refused() => Some(unsubscribe_link(app, project, user, &entry).await?),
        _ => None,
    };
    let rendering = match theme {
        Ok(theme) => sandbox::render(job(owner, user, &entry, theme, unsubscribe_url.clone())).await,
        Err(error) => Err(error),
    };
    Ok(Rendered { entry, rendering, unsubscribe_url })
}

/// What is read in one round trip.
struct Keys {
    /// The project's own template in place of a built-in mail that nobody edited.
    template: Option<Key>,
    theme: Option<Key>,
}

impl Keys {
    fn of(project: &ProjectId, entry: &OutboxEntry) -> Self {
        let source = &entry.source;
        let template = source.builtin.filter(|_| source.html.is_none() && source.subject.is_none());
        Self {
            template: template.map(|mail| document_key(project, DocumentKind::Template, mail.id().into())),
            theme: source.theme_id.map(|id| theme_key(project, id)),
        }
    }

    fn all(&self) -> impl Iterator<Item = Key> {
        [self.template.as_ref(), self.theme.as_ref()].into_iter().flatten().cloned()
    }
}

fn theme_key(project: &ProjectId, id: Uuid) -> Key {
    document_key(project, DocumentKind::Theme, DocumentId::from(id))
}

fn document(items: &mut Items, key: Option<&Key>) -> Result<Option<MailDocument>, store::Error> {
    Ok(key.and_then(|key| items.take(key)).map(DocumentRow::of).transpose()?.map(|row| row.document))
}

/// The source of a theme; the project's own theme gives way to ours when it is gone, so that nobody is locked out by its deletion.
async fn theme(app: &App, project: &Project, id: Uuid, items: &mut Items) -> Result<Option<String>, store::Error> {
    let key = theme_key(&project.id, id);
    let own = match document(items, Some(&key))? {
        Some(own) => Some(own),
        None if id == DEFAULT_THEME => None,
        // It may have been chosen after the first look: by the template, or by the project.
        None => app.store.mail_document(&project.id, DocumentKind::Theme, id.into()).await?.map(|row| row.document),
    };
    let is_ours = id == DEFAULT_THEME || id == project.config.email.theme();
    Ok(own.map(|own| own.html).or_else(|| is_ours.then(|| builtin::THEME.to_owned())))
}

async fn unsubscribe_link(app: &App, project: &ProjectId, user: &User, entry: &OutboxEntry) -> Result<String, store::Error> {
    let code = Code::new(app.entropy.code());
    let expires_at = after(app.clock.now(), LIFE);
    let link = UnsubscribeLink { project_id: project.clone(), user_id: user.id, category: entry.category, expires_at, used: false };
    app.store.create_unsubscribe_link(&code, &link).await?;
    Ok(format!("{}/api/v1/emails/unsubscribe-link?code={}", app.settings.api_url, code.text()))
}

fn job(project: &Project, user: Option<&User>, entry: &OutboxEntry, theme: Option<String>, unsubscribe_link: Option<String>) -> Job {
    let sources = builtin::sources(&entry.source);
    Job {
        subject: sources.subject.to_owned(),
        html: sources.html.to_owned(),
        text: sources.text.map(str::to_owned),
        theme,
        context: Context {
            project: project_context(project),
            user: user.map(|user| UserContext {
                id: user.id.to_string(),
                display_name: user.display_name.clone(),
                primary_email: user.primary().map(|channel| channel.value.to_string()),
            }),
            variables: entry.variables.clone(),
            unsubscribe_link,
        },
    }
}

fn project_context(project: &Project) -> ProjectContext {
    ProjectContext { id: project.id.to_string(), display_name: project.display_name.clone(), logo_url: project.logo_url.clone() }
}
