//! What functions are linked without: the tables of unwinding, a tenth of each. A function that panics ends (`panic = "abort"` in the release
//! profile), so nothing reads them. The flag that would not even make them is the compiler's, which a profile cannot set.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=../../infra/link/without-unwinding.ld");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    // Rust's own linker, or the one that cargo-lambda brings: others may not know such scripts.
    let is_known = var("RUSTC_LINKER").map_or(true, |linker| linker.contains("zig"));
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && is_known {
        let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/../../infra/link/without-unwinding.ld");
    }
}
