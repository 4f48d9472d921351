// Links functions without unwinding tables, which would make up a tenth of each binary. Nothing
// reads them, because a panic ends the process (`panic = "abort"` in the release profile). A linker
// script removes them, because Cargo profiles cannot set the compiler flag to omit them.
//
// The `build.rs` of each functions crate includes this file: Cargo records build scripts outside
// the package by absolute path, and would relink all functions in another clone.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=../../infra/link/without-unwinding.ld");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    // Only for Rust's default linker and cargo-lambda's (Zig): other linkers may not support such
    // scripts.
    let is_known = var("RUSTC_LINKER").map_or(true, |linker| linker.contains("zig"));
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && is_known {
        let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/../../infra/link/without-unwinding.ld");
    }
}
