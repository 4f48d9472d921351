//! Contains only the device that all of these programs share.

use std::time::Instant;

use verifiers::{Device, measure};

fn main() {
    let started = Instant::now();
    let device = Device::default();
    let challenge = [3; 32];
    assert!(device.create(&challenge).is_object() && device.get(&challenge).is_object());
    println!("first {:.1}", started.elapsed().as_secs_f64() * 1e6);
    let (created, got) = (device.create(&challenge).to_string(), device.get(&challenge).to_string());
    measure("register", || serde_json::from_str::<serde_json::Value>(&created));
    measure("sign-in", || serde_json::from_str::<serde_json::Value>(&got));
}
