//! Reseals values after a rotation of the deployment secret: values sealed with the previous secret
//! are sealed again with the current secret, so that the previous one can be removed. Only the
//! command line uses this module, never a Lambda function.
//!
//! Concurrent changes to an item are preserved. Versioned items get a new version, so that a
//! process that has read the old item does not write back the old value. Values that live for
//! minutes, such as those in authorizations and codes, are not resealed, because they expire first.
//! Cursors are not resealed, because only clients have them. Each item costs its share of the scan
//! and, if one of its values is resealed, one unit for each KB.

use aws_sdk_dynamodb::types::AttributeValue;
use crypto::seal::{SealedText, Sealer};
use model::bot_challenge::Turnstile;
use model::notice::NotMe;
use model::outbox::codes;
use model::project::signing_key::{self, RsaKey, RsaKeys};
use model::project::{Project, secret_owner};
use model::user::totp::{self, Authenticator, Totp};
use model::user::{User, recovery};
use model::webhook::{self, Endpoint};
use serde::Serialize;
use wire::id::ProjectId;

use crate::link::{Link, Purpose as _};
use crate::optimistic;
use crate::outbox::OutboxRow;
use crate::provider::tokens::{self, ProviderTokens};
use crate::table::{Error, Item, Key, Store, Write, entity, integer};

/// The maximum number of attempts to reseal an item that other processes keep changing.
const MAX_ATTEMPTS: u32 = 10;

/// A sealed value of an entity.
struct Place {
    /// The path of the value in DynamoDB's syntax: names separated by dots, and indexes in
    /// brackets.
    path: String,
    /// The owner name under which the value is sealed.
    owner: String,
    sealed: StoredText,
}

/// A sealed value in the form that it has in the item.
#[derive(Clone, Serialize)]
#[serde(untagged)]
enum StoredText {
    Text(SealedText),
    Bytes(#[serde(with = "crypto::seal::packed")] SealedText),
}

impl StoredText {
    fn sealed(&self) -> &SealedText {
        let (Self::Text(sealed) | Self::Bytes(sealed)) = self;
        sealed
    }

    /// A new value in the same form as this one.
    fn renewed(&self, sealed: SealedText) -> Self {
        match self {
            Self::Text(_) => Self::Text(sealed),
            Self::Bytes(_) => Self::Bytes(sealed),
        }
    }
}

impl From<SealedText> for StoredText {
    fn from(sealed: SealedText) -> Self {
        Self::Text(sealed)
    }
}

/// The sealed codes of an outbox entry. The codes are bytes, or text in an entry from an earlier
/// version.
fn places_of_entry(item: &Item) -> Result<Vec<Place>, Error> {
    let OutboxRow { project, entry, .. } = OutboxRow::of(item.clone())?;
    let stored = item.get("d").and_then(|entity| entity.as_m().ok()?.get("codes")?.as_m().ok());
    let is_text = |name: &str| stored.is_some_and(|codes| codes.get(name).is_some_and(AttributeValue::is_s));
    let place = |(name, sealed): (String, SealedText)| Place {
        path: format!("codes.{name}"),
        owner: codes::owner(project.as_str(), &entry.id.to_string(), &name),
        sealed: if is_text(&name) { StoredText::Text(sealed) } else { StoredText::Bytes(sealed) },
    };
    Ok(entry.codes.clone().into_iter().flatten().map(place).collect())
}

/// The result of resealing values or replacing message authentication codes (MACs).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ResealResult {
    /// The number of values resealed, or of MACs replaced.
    pub anew: usize,
    /// The number of values or MACs that had already been made with the current secret.
    pub current: usize,
    /// The places of values that neither secret unseals, or of MACs that neither secret matches.
    pub lost: Vec<String>,
}

impl ResealResult {
    /// The sum of two results.
    pub fn and(mut self, other: Self) -> Self {
        self.anew += other.anew;
        self.current += other.current;
        self.lost.extend(other.lost);
        self
    }
}

/// The secrets of the authenticator apps at `path`.
fn app_places(path: &str, totp: &Totp, owner: &str) -> Vec<Place> {
    let path = |position: usize| match position.checked_sub(1) {
        None => format!("{path}.secret"),
        Some(position) => format!("{path}.more[{position}].secret"),
    };
    let place = |(position, app): (usize, &Authenticator)| Place {
        path: path(position),
        owner: owner.to_owned(),
        sealed: app.secret.clone().into(),
    };
    totp.apps().enumerate().map(place).collect()
}

/// The sealed values of an item. Every kind of sealed value that is kept for more than a few
/// minutes must be listed here.
fn places(key: &Key, item: &Item) -> Result<Vec<Place>, Error> {
    let place = |path: &str, owner: String, sealed: SealedText| Place { path: path.to_owned(), owner, sealed: sealed.into() };
    if key.pk.starts_with("P#") && key.sk == "PROJECT" {
        let project: Project = entity(item.clone())?;
        let server = project.config.email.server.as_ref().and_then(|server| {
            let login = server.login.as_ref()?;
            let owner = server.password_owner(project.id.as_str(), &login.username);
            Some(place("config.email.server.login.password", owner, login.password.clone()))
        });
        let challenge = project.config.bot_challenge.turnstile.as_ref().map(|turnstile| {
            let owner = Turnstile::secret_owner(project.id.as_str(), &turnstile.site_key);
            place("config.bot_challenge.turnstile.secret_key", owner, turnstile.secret_key.clone())
        });
        let lists = [("oauth_providers", project.config.oauth_providers), ("idle_oauth_providers", project.config.idle_oauth_providers)];
        let providers = lists.into_iter().flat_map(|(list, providers)| {
            providers.into_iter().enumerate().map(move |(index, provider)| (format!("config.{list}[{index}].client_secret"), provider))
        });
        let providers = providers.filter_map(|(path, provider)| {
            let owner = secret_owner(project.id.as_str(), &provider.id);
            Some(place(&path, owner, provider.client_secret?))
        });
        return Ok(providers.chain(server).chain(challenge).collect());
    }
    if key.pk.starts_with("P#") && key.sk == "SIGNING" {
        return places_of_signing_keys(key, &entity(item.clone())?);
    }
    if let Some(project) = key.pk.strip_prefix("P#")
        && key.sk.starts_with("WEBHOOK#")
    {
        return Ok(places_of_webhook(project, entity(item.clone())?));
    }
    if let Some((project, _)) = key.pk.strip_prefix("U#").and_then(|rest| rest.split_once('#'))
        && key.sk == "USER"
    {
        let user: User = entity(item.clone())?;
        let project = ProjectId::parse(project).map_err(|_| Error::Refused(format!("{} is not the key of a user", key.pk)))?;
        let Some(totp) = user.totp else { return Ok(Vec::new()) };
        let apps = app_places("totp", &totp, &totp::owner(&project, user.id));
        let codes = totp.recovery.map(|codes| place("totp.recovery.hashes", recovery::owner(&project, user.id), codes.hashes));
        return Ok(apps.into_iter().chain(codes).collect());
    }
    if key.pk.starts_with("V#") && key.sk == NotMe::SORT_KEY {
        let Link { project_id, user_id, purpose, .. } = entity::<Link<NotMe>>(item.clone())?;
        let totp = purpose.before.and_then(|before| before.totp);
        let owner = totp::owner(&project_id, user_id);
        return Ok(totp.iter().flat_map(|totp| app_places("before.totp", totp, &owner)).collect());
    }
    if key.pk.starts_with("M#") && key.sk == "ENTRY" {
        return places_of_entry(item);
    }
    if tokens::is_key(key) {
        let tokens: ProviderTokens = entity(item.clone())?;
        let Some(owner) = tokens::owner_in(key, tokens.registration.as_ref()) else { return Ok(Vec::new()) };
        let refresh = tokens.refresh.map(|refresh| place("refresh", owner.clone(), refresh));
        return Ok([place("access", owner, tokens.access)].into_iter().chain(refresh).collect());
    }
    Ok(Vec::new())
}

/// The private halves of a project's RSA keys.
fn places_of_signing_keys(key: &Key, keys: &RsaKeys) -> Result<Vec<Place>, Error> {
    let project = key.pk.strip_prefix("P#").and_then(|id| ProjectId::parse(id).ok());
    let project = project.ok_or_else(|| Error::Refused(format!("{} is not the key of a project", key.pk)))?;
    let place = |(index, key): (usize, &RsaKey)| Place {
        path: format!("keys[{index}].private"),
        owner: signing_key::private_key_owner(&project, &key.public),
        sealed: StoredText::Bytes(key.private.clone()),
    };
    Ok(keys.stored().iter().enumerate().map(place).collect())
}

/// The sealed values of a webhook endpoint.
fn places_of_webhook(project: &str, endpoint: Endpoint) -> Vec<Place> {
    let Endpoint { id, secret, previous, headers, .. } = endpoint;
    let signing =
        |path: &str, sealed: SealedText| Place { path: path.to_owned(), owner: webhook::secret_owner(project, id), sealed: sealed.into() };
    let headers = headers.into_iter().enumerate().map(|(index, header)| {
        let owner = webhook::header_owner(project, id, &header.name);
        Place { path: format!("headers[{index}].value"), owner, sealed: header.value.into() }
    });
    let previous = previous.map(|previous| signing("previous.sealed", previous.sealed));
    [signing("secret.sealed", secret.sealed)].into_iter().chain(previous).chain(headers).collect()
}

impl Store {
    /// Reseals the values of an item that are sealed with the previous secret. The item may be
    /// outdated; if it has changed, the item is read again.
    pub async fn reseal(&self, sealer: &Sealer, mut item: Item) -> Result<ResealResult, Error> {
        let key = Key::of(&item).ok_or_else(|| Error::Refused("an item has no key".to_owned()))?;
        optimistic!(MAX_ATTEMPTS, |attempt| {
            if attempt > 0 {
                match self.get(&key).await? {
                    Some(now) => item = now,
                    None => return Ok(ResealResult::default()),
                }
            }
            let (mut done, mut changes) = (ResealResult::default(), Vec::new());
            for place in places(&key, &item)? {
                match sealer.renew(&self.entropy, &place.owner, place.sealed.sealed()) {
                    Ok(Some(new)) => {
                        let new = place.sealed.renewed(new);
                        changes.push((place, new));
                    }
                    Ok(None) => done.current += 1,
                    Err(_) => done.lost.push(format!("{} / {}, {}", key.pk, key.sk, place.path)),
                }
            }
            done.anew = changes.len();
            if changes.is_empty() {
                return Ok(done);
            }
            self.write(replace(&key, changes, item.contains_key("version"))?).await?;
            Ok(done)
        })
    }
}

/// Replaces sealed values on the condition that they have not changed.
fn replace(key: &Key, changes: Vec<(Place, StoredText)>, has_version: bool) -> Result<Write, Error> {
    let (mut sets, mut conditions) = (Vec::new(), Vec::new());
    for (number, (place, _)) in changes.iter().enumerate() {
        // The expressions use placeholders, because a name may be one of DynamoDB's reserved words.
        let path = place.path.replace('.', ".#");
        sets.push(format!("d.#{path} = :new{number}"));
        conditions.push(format!("d.#{path} = :old{number}"));
    }
    if has_version {
        sets.push("version = version + :one".to_owned());
    }
    let mut write = Write::update(key.clone(), format!("SET {}", sets.join(", "))).on(conditions.join(" AND "));
    if has_version {
        write = write.value(":one", integer(1));
    }
    for (number, (place, new)) in changes.iter().enumerate() {
        for name in place.path.split('.').map(|name| name.split('[').next().unwrap_or(name)) {
            write = write.name(&format!("#{name}"), name);
        }
        write = write.entity(&format!(":new{number}"), new)?.entity(&format!(":old{number}"), &place.sealed)?;
    }
    Ok(write)
}
