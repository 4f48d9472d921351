//! The API keys of users and teams that the events use.

use model::owned_key::text::KeyText;
use model::owned_key::{NewKey, OwnedKey, Owner};
use support::TestApp;
use wire::id::{OwnedKeyId, ProjectId};

/// Gives an owner a key with this id, and returns the key.
pub(super) async fn write(app: &TestApp, project: &ProjectId, owner: Owner, id: &str) -> String {
    let entropy = &app.app.entropy;
    let text = KeyText::random(project, owner, false, entropy);
    let new = NewKey { description: "Laptop".to_owned(), is_public: false, scopes: Vec::new(), expires_at: None };
    let key = OwnedKey { id: OwnedKeyId::parse(id).unwrap(), ..OwnedKey::new(&text, new, entropy, app.now()) };
    let row = app.app.store.key_owner(project, owner).await.unwrap().unwrap();
    let mut keys = row.keys().clone();
    keys.add(key, app.now()).unwrap();
    app.app.store.transact([row.with_keys(project, keys).unwrap()]).await.unwrap();
    text.text().to_owned()
}
