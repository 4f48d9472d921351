// Links functions without unwinding tables, which would take a tenth of each binary. Nothing reads
// these tables, because a panic ends the process (`panic = "abort"` in the release profile). A
// linker script removes the tables, because a Cargo profile cannot set the compiler flag that omits
// them.
//
// The `build.rs` of each crate of functions includes this file. If a build script itself were
// outside its package, Cargo would record its absolute path and relink all functions in another
// clone.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=../../infra/link/without-unwinding.ld");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    // The script is used only with Rust's default linker and with that of cargo-lambda (Zig),
    // because other linkers may not support such scripts.
    let is_known = var("RUSTC_LINKER").map_or(true, |linker| linker.contains("zig"));
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && is_known {
        let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/../../infra/link/without-unwinding.ld");
    }
}
