//! The model: its states, and the steps between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use stateright::{Model, Property};

use crate::call::{Call, Condition};
use crate::rules;
use crate::service::{Reply, Task};
use crate::services::{Place, Services};
use crate::table::{Effect, Engines, Table};

/// A client with its tasks, one after another.
pub(crate) struct Client {
    pub(crate) tasks: Vec<Task>,
    /// Whether the only task of the client redeems an item, in which case its response must match
    /// the effect.
    pub(crate) redeems: bool,
}

/// The clients that share a table, and the rules that must hold.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) clients: Vec<Client>,
    /// The rules of this scenario in addition to those of every scenario.
    pub(crate) rules: Vec<Property<Exploration>>,
    /// The number of calls to the table, or responses from it, that may be lost.
    pub(crate) faults: u8,
    /// The ids of users and sessions that rules use, by name.
    pub(crate) known: BTreeMap<&'static str, String>,
    /// The past events that rules use.
    pub(crate) events: Vec<Event>,
    pub(crate) table: Table,
    pub(crate) services: Services,
    pub(crate) engines: Engines,
    /// The conditions of all writes that the unmodified code makes.
    pub(crate) conditions: Mutex<BTreeSet<Condition>>,
}

/// Whether a table shows that an event has happened; the state remembers the result.
pub(crate) type Event = fn(&Scenario, &Table) -> bool;

/// The history of a state, which rules use.
#[derive(Clone, PartialEq, Hash, Default)]
pub(crate) struct Past {
    /// The number of times that each client has redeemed an item.
    pub(crate) redeemed: Vec<u8>,
    /// Whether an item has been redeemed twice.
    pub(crate) twice: bool,
    /// Whether a code has been redeemed after the credential epoch of its user had risen.
    pub(crate) late: bool,
    /// The events of the scenario that have happened, as bits.
    pub(crate) happened: u32,
    /// For each client, the events that had happened before the first call of its current or last
    /// task to items that can change; `None` before that call.
    pub(crate) knew: Vec<Option<u32>>,
    /// The client that has started each session, by the sort key of the session.
    pub(crate) began: BTreeMap<Arc<str>, usize>,
}

#[derive(Clone, PartialEq, Hash)]
pub(crate) struct State {
    pub(crate) table: Table,
    pub(crate) places: Vec<Place>,
    /// The tokens of transactions that were executed, but whose responses were lost.
    made: BTreeSet<Arc<str>>,
    pub(crate) faults: u8,
    pub(crate) past: Past,
}

/// What happens to a pending call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    /// The call is executed, but its response is lost.
    AnswerLost,
    /// The connection breaks before the call arrives.
    NotMade,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    client: usize,
    call: usize,
    fate: Fate,
}

/// How the code is broken on purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Break {
    /// Writes are made without this condition.
    Dropped(Condition),
    /// The table does not recognize a repeated transaction.
    ForgottenTokens,
    /// Single writes do not leave a mark, so a repeated write is not recognized.
    NoMarks,
    /// This attribute of users never changes, whatever is written.
    Stays(&'static str),
}

/// A scenario, with the unmodified code or with broken code.
pub(crate) struct Exploration {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) broken: Option<Break>,
}

impl Exploration {
    /// The call that the broken code makes instead of this one.
    fn as_broken(&self, call: &Call, table: &Table) -> Call {
        match &self.broken {
            Some(Break::Dropped(condition)) => condition.dropped_from(call),
            Some(Break::NoMarks) => call.map_writes(|_, write| {
                if let Some(mark) = write.pointer_mut("/Item/mark/S") {
                    *mark = "no mark".into();
                }
            }),
            Some(Break::Stays(attribute)) => call.map_writes(|_, write| {
                let Some(user) = write.pointer_mut("/ExpressionAttributeValues/:d/M") else { return };
                let old = user["id"]["S"].as_str().and_then(|id| table.user_item(id));
                user[*attribute] = old.map_or_else(|| json!({ "N": "0" }), |item| item.stored(attribute).clone());
            }),
            Some(Break::ForgottenTokens) | None => call.clone(),
        }
    }

    fn effect(&self, call: &Call, table: &Table) -> Arc<Effect> {
        if self.broken.is_none() {
            self.scenario.conditions.lock().unwrap().extend(Condition::all(call));
            return self.scenario.engines.effect(call, table);
        }
        self.scenario.engines.effect(&self.as_broken(call, table), table)
    }

    /// Adds an executed call to the history.
    fn remember(&self, past: &mut Past, client: usize, call: &Call, before: &Table, after: &Table) {
        for write in call.writes() {
            let key = write.key();
            let (old, new) = (before.get(&key), after.get(&key));
            let item = old.map_or(&Value::Null, |item| &item.plain);
            if write.redeems() && !write.comes_again(item) {
                let was = &item["d"];
                past.redeemed[client] += 1;
                past.twice |= was["used"] == true || was["session_id"].is_string() || item["taken_by"].is_string();
                past.late |= is_late(was, before);
            }
            if key.1.starts_with("SESSION#") && old.is_none() && new.is_some() {
                past.began.insert(key.1, client);
            }
        }
        for (bit, event) in self.scenario.events.iter().enumerate() {
            past.happened |= u32::from(event(&self.scenario, after)) << bit;
        }
    }
}

/// Whether the user of the code was deleted or has a credential epoch other than the code's. A
/// sign-in code for an address without an account belongs to the current user of the address.
fn is_late(code: &Value, table: &Table) -> bool {
    let epoch = if code["credential_epoch"].is_u64() { &code["credential_epoch"] } else { &code["epoch"] };
    let user = match (code["user_id"].as_str(), code["email"].as_str()) {
        (Some(id), _) => match table.user(id) {
            Some(user) => Some(user),
            None => return true,
        },
        (None, Some(email)) => table.users().find(|user| user.channels.iter().any(|own| own.signs_in() && own.value.as_str() == email)),
        (None, None) => None,
    };
    epoch.as_u64().zip(user).is_some_and(|(epoch, user)| epoch != user.credential_epoch)
}

impl Model for Exploration {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let clients = &self.scenario.clients;
        let begin = |(number, client): (usize, &Client)| Place(self.scenario.services.local(number, &client.tasks, None, 0, Vec::new()));
        let past = Past { redeemed: vec![0; clients.len()], knew: vec![None; clients.len()], ..Past::default() };
        let places = clients.iter().enumerate().map(begin).collect();
        vec![State { table: self.scenario.table.clone(), places, made: BTreeSet::new(), faults: self.scenario.faults, past }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        for (client, Place(place)) in state.places.iter().enumerate() {
            for call in &place.pending {
                let step = Step { client, call: *call, fate: Fate::Answered };
                let made = &place.calls[*call];
                // Items that nobody changes are the same at any time, so the only step that is
                // explored is reading them now.
                if is_of_constants(made) {
                    *steps = vec![step];
                    return;
                }
                steps.push(step);
                if state.faults > 0 && !made.is_read() {
                    steps.push(Step { fate: Fate::AnswerLost, ..step });
                    // A lost request of a transaction is not explored. The client repeats the
                    // request with the same token, which is equivalent to executing the first
                    // attempt later.
                    steps.extend(Some(Step { fate: Fate::NotMade, ..step }).filter(|_| !made.is_transaction()));
                }
            }
        }
    }

    fn next_state(&self, state: &State, Step { client, call, fate }: Step) -> Option<State> {
        let mut next = state.clone();
        let Place(place) = &state.places[client];
        let made = &place.calls[call];
        if next.past.knew[client].is_none() && !is_of_constants(made) {
            next.past.knew[client] = Some(state.past.happened);
        }
        let again = made.token().is_some_and(|token| state.made.contains(token)) && self.broken != Some(Break::ForgottenTokens);
        let mut reply = Reply::Broken;
        if again {
            reply = Reply::Said { status: 200, body: "{}".into() };
        } else if fate != Fate::NotMade {
            let effect = self.effect(made, &state.table);
            if effect.is_success() && !made.is_read() {
                next.table = effect.on(&state.table);
                self.remember(&mut next.past, client, made, &state.table, &next.table);
                next.made.extend(made.token().filter(|_| fate == Fate::AnswerLost).map(Arc::from));
            }
            reply = effect.reply.clone();
        }
        if fate != Fate::Answered {
            next.faults -= 1;
            reply = Reply::Broken;
        }
        let mut heard = place.heard.clone();
        heard.push((call, reply));
        let tasks = &self.scenario.clients[client].tasks;
        let local = self.scenario.services.local(client, tasks, Some(place), place.at, heard);
        if local.at != place.at && local.at < tasks.len() {
            next.past.knew[client] = None;
        }
        next.places[client] = Place(local);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = rules::all();
        properties.extend(self.scenario.rules.iter().cloned());
        properties
    }

    fn format_action(&self, Step { client, call, fate }: &Step) -> String {
        format!("client {client}, call {call}: {fate:?}")
    }
}

impl State {
    pub(crate) fn describe(&self, Step { client, call, fate }: Step) -> String {
        let made = &self.places[client].0.calls[call];
        let of_item = |(pk, sk): &(Arc<str>, Arc<str>)| {
            let short = |text: &str| text.chars().take(12).collect::<String>();
            format!("{} {}", pk.split('#').next().unwrap_or_default(), short(sk))
        };
        let keys: Vec<String> = made.keys.iter().flat_map(|keys| keys.iter()).map(of_item).collect();
        let fate = match fate {
            Fate::Answered => "",
            Fate::AnswerLost => ", and its response is lost",
            Fate::NotMade => ", which is lost",
        };
        format!("client {client}: {} [{}]{fate}", made.operation, keys.join(", "))
    }
}

/// Whether a call reads only projects and their keys, which no client changes.
fn is_of_constants(call: &Call) -> bool {
    call.is_read() && call.keys.as_ref().is_some_and(|keys| keys.iter().all(|(pk, _)| pk.starts_with("P#")))
}
