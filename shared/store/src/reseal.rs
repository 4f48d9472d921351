//! Sealing anew, after the deployment secret was replaced: what the previous one sealed is sealed with the current one, so that the previous
//! one can be forgotten. For the tool that does it; never reachable from a function.
//!
//! Whoever changes a value meanwhile wins, and an item that has a version gets another, so that who read it before does not put the old value
//! back. What lives for minutes (an authorization, a code with what it is good for, the cursor of a page) is not here: it is over first.
//! An item costs its share of the scan, and one unit for each KB when something in it is sealed anew.

use std::collections::BTreeMap;

use crypto::seal::{Sealed, Sealer};
use model::bot_challenge::Turnstile;
use model::notice::NotMe;
use model::outbox::codes;
use model::project::{Project, secret_owner};
use model::user::{User, totp};
use serde::Deserialize;
use wire::id::ProjectId;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, entity, integer, key_of};
use crate::link::{Link, Purpose as _};
use crate::optimistic;
use crate::provider::authorization;
use crate::write::Write;

/// How often an item is tried that others change at the same time.
const ROUNDS: u32 = 10;

/// A sealed value of an entity.
struct Place {
    /// Where it is, in DynamoDB's words: names with dots between them, and indexes in brackets.
    path: String,
    /// What it is sealed for.
    owner: String,
    sealed: Sealed,
}

/// Of an entry of the outbox, whatever else is in it.
#[derive(Deserialize)]
struct Codes {
    #[serde(default)]
    codes: BTreeMap<String, Sealed>,
}

/// What became of sealed values.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resealed {
    pub anew: usize,
    /// Were sealed with the current secret already.
    pub current: usize,
    /// Where those are that neither secret opens.
    pub lost: Vec<String>,
}

impl Resealed {
    pub fn and(mut self, other: Self) -> Self {
        self.anew += other.anew;
        self.current += other.current;
        self.lost.extend(other.lost);
        self
    }
}

/// The sealed values of an item. Whatever is sealed for longer than minutes is to be found here.
fn places(key: &Key, item: &Item) -> Result<Vec<Place>, Error> {
    let place = |path: &str, owner: String, sealed: Sealed| Place { path: path.to_owned(), owner, sealed };
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
        let providers = project.config.oauth_providers.into_iter().enumerate().map(|(index, provider)| {
            let owner = secret_owner(project.id.as_str(), &provider.id);
            place(&format!("config.oauth_providers[{index}].client_secret"), owner, provider.client_secret)
        });
        return Ok(providers.chain(server).chain(challenge).collect());
    }
    if let Some((project, _)) = key.pk.strip_prefix("U#").and_then(|rest| rest.split_once('#'))
        && key.sk == "USER"
    {
        let user: User = entity(item.clone())?;
        let project = ProjectId::parse(project).map_err(|_| Error::Refused(format!("{} is no user of a project", key.pk)))?;
        return Ok(user.totp.map(|app| place("totp.secret", totp::owner(&project, user.id), app.secret)).into_iter().collect());
    }
    if key.pk.starts_with("V#") && key.sk == NotMe::SORT_KEY {
        let Link { project_id, user_id, purpose, .. } = entity::<Link<NotMe>>(item.clone())?;
        let app = purpose.before.and_then(|before| before.totp);
        return Ok(app.map(|app| place("before.totp.secret", totp::owner(&project_id, user_id), app.secret)).into_iter().collect());
    }
    if let Some((project, id)) = key.pk.strip_prefix("M#").and_then(|rest| rest.split_once('#'))
        && key.sk == "ENTRY"
    {
        let Codes { codes } = entity(item.clone())?;
        let place = |(name, sealed): (String, Sealed)| place(&format!("codes.{name}"), codes::owner(project, id, &name), sealed);
        return Ok(codes.into_iter().map(place).collect());
    }
    if let Some(owner) = authorization::owner_by_key(key) {
        let tokens: authorization::ProviderTokens = entity(item.clone())?;
        let refresh = tokens.refresh.map(|refresh| place("refresh", owner.clone(), refresh));
        return Ok([place("access", owner, tokens.access)].into_iter().chain(refresh).collect());
    }
    Ok(Vec::new())
}

impl Store {
    /// Seals anew what an item, as it was read from the table some time ago, has of the previous secret.
    pub async fn reseal(&self, sealer: &Sealer, mut item: Item) -> Result<Resealed, Error> {
        let key = key_of(&item).ok_or_else(|| Error::Refused("an item has no key".to_owned()))?;
        optimistic!(ROUNDS, |round| {
            if round > 0 {
                match self.get(&key).await? {
                    Some(now) => item = now,
                    None => return Ok(Resealed::default()),
                }
            }
            let (mut done, mut changes) = (Resealed::default(), Vec::new());
            for place in places(&key, &item)? {
                match sealer.renew(&self.entropy, &place.owner, &place.sealed) {
                    Ok(Some(new)) => changes.push((place, new)),
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

/// Replaces sealed values where they are still what they were.
fn replace(key: &Key, changes: Vec<(Place, Sealed)>, has_version: bool) -> Result<Write, Error> {
    let (mut sets, mut conditions) = (Vec::new(), Vec::new());
    for (number, (place, _)) in changes.iter().enumerate() {
        // By placeholders: a name may be one of the words that DynamoDB reserves.
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
