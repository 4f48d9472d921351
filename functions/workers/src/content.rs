//! Renders outbox entries. The inputs are the entries' sources, the template and theme of the
//! project, if any, and the unsubscribe link of the email's category.

use std::collections::{HashMap, HashSet};

use email::render::{Context, Job, ProjectContext, Sources, UserContext};
use email::sandbox;
use flows::App;
use flows::email::sealed;
use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use model::code::Code;
use model::document::theme::{DEFAULT_THEME, Theme};
use model::document::{DocumentKind, MailDocument, builtin};
use model::email::Email;
use model::outbox::body::{Bodies, Body};
use model::outbox::codes::Codes;
use model::outbox::work::Rendering;
use model::outbox::{OutboxEntry, Recipients, SendError};
use model::project::SendingProject;
use model::user::User;
use store::Key;
use store::document::{DocumentRow, document_key};
use store::link::{Link, Unsubscribe};
use store::outbox::OutboxRow;
use uuid::Uuid;
use wire::id::{DocumentId, EmailId, ProjectId};

use crate::parties::Parties;

/// The number of keys in one batch read.
const READS: usize = 100;

/// The result of rendering an email, which may have failed. The result is stored in the email's
/// entry.
pub(crate) struct RenderedEntry {
    /// The entry with the sources that were used. The sources can be inspected and edited.
    pub(crate) entry: OutboxEntry,
    pub(crate) rendering: Rendering,
    pub(crate) unsubscribe_url: Option<String>,
}

/// An email in the form in which its recipient gets it. Unlike the stored bodies, the email
/// contains the codes and the unsubscribe link.
pub(crate) struct Letter {
    pub(crate) subject: String,
    pub(crate) html: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) unsubscribe_url: Option<String>,
}

impl Letter {
    /// The stored rendering of an entry that contains no codes.
    fn of(entry: &OutboxEntry, body: Body) -> Option<Self> {
        let mail = entry.rendered.clone()?;
        let Body { html, text } = body.with_unsubscribe_link(mail.unsubscribe_url.as_deref());
        Some(Self { subject: mail.subject, html, text, unsubscribe_url: mail.unsubscribe_url })
    }
}

/// An email to send, or the reason why it cannot be rendered. The value includes the codes in the
/// email, so that they can be removed from the outcome.
pub(crate) struct OpenedEmail {
    pub(crate) id: EmailId,
    pub(crate) letter: Result<Letter, SendError>,
    pub(crate) codes: Codes,
}

/// The emails of entries in the form in which their recipients get them. Emails with codes are
/// rendered again with their codes. Emails without stored bodies, for example because the bodies
/// have expired, are also rendered again. Emails that were not rendered because other emails took
/// too long are left out.
pub(crate) async fn open_all(app: &App, parties: &Parties, rows: &[&OutboxRow]) -> Result<Vec<OpenedEmail>, store::Error> {
    let (mut opened, mut to_render) = (Vec::with_capacity(rows.len()), Vec::new());
    for (row, body) in rows.iter().zip(stored_bodies(app, rows).await?) {
        let id = row.entry.id;
        if let Some(letter) = body.and_then(|body| Letter::of(&row.entry, body)) {
            opened.push(OpenedEmail { id, letter: Ok(letter), codes: row.entry.clear_codes() });
            continue;
        }
        match sealed::opened(app, &row.project, &row.entry) {
            Ok(variables) => {
                let entry = OutboxEntry { variables, ..row.entry.clone() };
                to_render.push(OutboxRow { project: row.project.clone(), entry, version: row.version });
            }
            Err(error) => {
                tracing::error!(%error, %id, "the codes of an email cannot be decrypted");
                let letter = Err(unsendable(app, "its codes cannot be decrypted with this deployment's secret, so send a new code"));
                opened.push(OpenedEmail { id, letter, codes: Codes::default() });
            }
        }
    }
    let rendered = render_all(app, parties, &to_render).await?;
    for (row, rendered) in to_render.iter().zip(rendered) {
        let Some(rendered) = rendered else { continue };
        let unsubscribe_url = rendered.unsubscribe_url;
        // A rendering error may contain a code, so it is replaced.
        let letter = rendered.rendering.map(|(subject, html, text)| Letter { subject, html, text, unsubscribe_url });
        let letter = letter.map_err(|_| unsendable(app, "check its template and theme"));
        opened.push(OpenedEmail { id: row.entry.id, letter, codes: Codes::of(&row.entry.variables) });
    }
    Ok(opened)
}

/// The stored bodies of one project's entries, in the order of the entries. `None` for an entry
/// with codes or without stored bodies.
async fn stored_bodies(app: &App, rows: &[&OutboxRow]) -> Result<Vec<Option<Body>>, store::Error> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let now = app.clock.now();
    let bodies: Vec<(EmailId, Bodies)> = rows.iter().map(|row| (row.entry.id, row.entry.bodies(now))).collect();
    let kept: Vec<EmailId> = bodies.iter().filter(|(_, bodies)| matches!(bodies, Bodies::Kept)).map(|(id, _)| *id).collect();
    let mut kept = app.store.bodies(&first.project, &kept).await?.into_iter();
    let found = bodies.into_iter().map(|(_, bodies)| match bodies {
        Bodies::Inside(body) => Some(body),
        Bodies::Kept => kept.next().flatten(),
        Bodies::None => None,
    });
    Ok(found.collect())
}

fn unsendable(app: &App, why: &str) -> SendError {
    SendError::new(app.clock.now(), "REJECTED", format!("the email cannot be rendered: {why}"))
}

/// An entry with the input for rendering it, or with the reason why it cannot be rendered.
struct PreparedEntry {
    entry: OutboxEntry,
    job: Result<Job, String>,
}

/// Renders entries of one project. The results are in the order of the entries. A result is `None`
/// if its entry was not rendered because other entries took too long.
pub(crate) async fn render_all(app: &App, parties: &Parties, rows: &[OutboxRow]) -> Result<Vec<Option<RenderedEntry>>, store::Error> {
    let documents = Documents::read(app, parties, rows).await?;
    let prepared = try_join_all(rows.iter().map(|row| prepare(app, parties, &documents, row).boxed())).await?;
    let jobs = prepared.iter().filter_map(|prepared| prepared.job.clone().ok()).collect();
    let mut renderings = sandbox::render_all(jobs).await.into_iter();
    let rendered = prepared.into_iter().map(|PreparedEntry { entry, job }| {
        let unsubscribe_url = job.as_ref().ok().and_then(|job| job.context.unsubscribe_link.clone());
        let rendering = match job {
            Ok(_) => renderings.next().flatten()?,
            Err(error) => Err(error),
        };
        Some(RenderedEntry { entry, rendering, unsubscribe_url })
    });
    Ok(rendered.collect())
}

/// Whether the recipient has verified all email addresses of the entry.
fn is_proved(entry: &OutboxEntry, user: Option<&User>) -> bool {
    let is_proved = |email: &Email| user.is_some_and(|user| user.channels.iter().any(|it| it.is_verified && it.value == *email));
    match &entry.to {
        Recipients::UserPrimaryEmail { .. } => user.and_then(User::primary).is_some_and(|channel| channel.is_verified),
        Recipients::UserCustomEmails { emails, .. } | Recipients::CustomEmails { emails } => emails.iter().all(is_proved),
    }
}

async fn prepare(app: &App, parties: &Parties, documents: &Documents, row: &OutboxRow) -> Result<PreparedEntry, store::Error> {
    let (owner, user) = parties.to(app, row).await?;
    let mut entry = row.entry.clone();
    entry.is_to_stranger = entry.is_of_service() && !is_proved(&entry, user.as_ref());
    let Some(owner) = owner else { return Ok(PreparedEntry { entry, job: Err("the project no longer exists".to_owned()) }) };
    if let Some(template) = template_key(&row.project, &entry).and_then(|key| documents.get(&key)) {
        entry.source.subject = Some(template.subject.clone());
        entry.source.html = Some(template.html.clone());
        entry.source.text.clone_from(&template.text);
        entry.source.theme_id = template.theme.map_or(entry.source.theme_id, Theme::id);
    }
    // Built-in emails use the project's theme, which was not read when the emails were requested.
    if entry.source.builtin.is_some() && entry.source.theme_id == Some(DEFAULT_THEME) {
        entry.source.theme_id = Some(owner.config.email.theme());
    }
    let theme = match entry.source.theme_id {
        None => None,
        Some(id) => match theme(app, owner, id, documents).await? {
            None if entry.source.builtin.is_none() => {
                return Ok(PreparedEntry { entry, job: Err(format!("the theme {id} no longer exists: choose another")) });
            }
            // If the theme of a built-in email was deleted, the default theme is used, so that
            // nobody is locked out.
            theme => theme.or_else(|| Some(builtin::THEME.to_owned())),
        },
    };
    let unsubscribe_link = match &user {
        Some(user) if entry.category.can_be_refused() => Some(unsubscribe_link(app, &row.project, user, &entry).await?),
        _ => None,
    };
    let job = job(owner, user.as_ref(), &entry, theme, unsubscribe_link);
    Ok(PreparedEntry { entry, job: Ok(job) })
}

/// Templates and themes of several entries, which are read together.
struct Documents(HashMap<Key, MailDocument>);

impl Documents {
    async fn read(app: &App, parties: &Parties, rows: &[OutboxRow]) -> Result<Self, store::Error> {
        let keys: HashSet<Key> = rows.iter().flat_map(|row| keys(parties, row)).collect();
        let mut found = HashMap::new();
        // With up to three keys per entry, the keys may not fit into one batch.
        for keys in Vec::from_iter(keys).chunks(READS) {
            let mut items = app.store.get_many(keys.iter().cloned()).await?;
            for key in keys {
                if let Some(item) = items.take(key) {
                    found.insert(key.clone(), DocumentRow::of(item)?.document);
                }
            }
        }
        Ok(Self(found))
    }

    fn get(&self, key: &Key) -> Option<&MailDocument> {
        self.0.get(key)
    }
}

fn keys(parties: &Parties, row: &OutboxRow) -> impl Iterator<Item = Key> {
    let theme = row.entry.source.theme_id.map(|id| theme_key(&row.project, id));
    let default = row.entry.source.builtin.and_then(|_| parties.project(&row.project)).map(|project| project.config.email.theme());
    let default = default.map(|id| theme_key(&row.project, id));
    [template_key(&row.project, &row.entry), theme, default].into_iter().flatten()
}

/// The key of the project's version of the template, for a built-in email that was not edited.
/// `None` for any other email.
fn template_key(project: &ProjectId, entry: &OutboxEntry) -> Option<Key> {
    let source = &entry.source;
    let mail = source.builtin.filter(|_| source.html.is_none() && source.subject.is_none())?;
    Some(document_key(project, DocumentKind::Template, mail.id().into()))
}

fn theme_key(project: &ProjectId, id: Uuid) -> Key {
    document_key(project, DocumentKind::Theme, DocumentId::from(id))
}

/// The source of a theme. If the theme that the project has selected was deleted, returns the
/// source of the default theme, so that nobody is locked out. If another theme was deleted, returns
/// `None`.
async fn theme(app: &App, project: &SendingProject, id: Uuid, documents: &Documents) -> Result<Option<String>, store::Error> {
    let own = match documents.get(&theme_key(&project.id, id)) {
        Some(own) => Some(own.html.clone()),
        None if id == DEFAULT_THEME => None,
        // The template may name the theme, and the template had not been read when the documents
        // were read.
        None => app.store.mail_document(&project.id, DocumentKind::Theme, id.into()).await?.map(|row| row.document.html),
    };
    let is_ours = id == DEFAULT_THEME || id == project.config.email.theme();
    Ok(own.or_else(|| is_ours.then(|| builtin::THEME.to_owned())))
}

async fn unsubscribe_link(app: &App, project: &ProjectId, user: &User, entry: &OutboxEntry) -> Result<String, store::Error> {
    let code = Code::new(app.entropy.code());
    let link = Link::new(project, user.id, Unsubscribe { category: entry.category }, app.clock.now());
    app.store.create_link(&code, &link).await?;
    Ok(format!("{}/api/v1/emails/unsubscribe-link?code={}", app.settings.api_url, code.text()))
}

fn job(project: &SendingProject, user: Option<&User>, entry: &OutboxEntry, theme: Option<String>, unsubscribe_link: Option<String>) -> Job {
    let sources = entry.source.complete();
    Job {
        sources: Sources {
            subject: sources.subject.to_owned(),
            html: sources.html.to_owned(),
            text: sources.text.map(str::to_owned),
            theme,
        },
        context: Context {
            project: project_context(project),
            user: user.map(|user| UserContext {
                id: user.id.to_string(),
                display_name: user.display_name.clone(),
                primary_email: user.primary().map(|channel| channel.value.to_string()),
            }),
            variables: entry.variables.clone(),
            unsubscribe_link,
            has_placeholders: false,
        },
    }
}

fn project_context(project: &SendingProject) -> ProjectContext {
    ProjectContext { id: project.id.to_string(), display_name: project.display_name.clone(), logo_url: project.logo_url.clone() }
}
