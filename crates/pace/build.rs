//! Builds the library that student programs load, from the sources of the crate `chicane-shim`.
//!
//! Cargo can't build a dependency as a library for another program, so this script calls the
//! compiler itself.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    let variable = |name: &str| std::env::var_os(name).expect("cargo sets this variable");
    let sources = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../shim/src");
    println!("cargo::rerun-if-changed={}", sources.display());
    let target = variable("TARGET");
    let library = PathBuf::from(variable("OUT_DIR")).join("libchicane_time.so");
    let mut compiler = Command::new(variable("RUSTC"));
    // A build for another processor needs another linker. Cargo passes its name in this variable.
    if let Some(linker) = std::env::var_os("RUSTC_LINKER") {
        compiler.arg("-C").arg(format!("linker={}", linker.display()));
    }
    let status = compiler
        .args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "chicane_time"])
        .args(["-C", "opt-level=2", "-C", "panic=abort", "-C", "strip=symbols", "--cap-lints", "allow"])
        .arg("--target")
        .arg(target)
        .arg("-o")
        .arg(&library)
        .arg(sources.join("lib.rs"))
        .status();
    assert!(status.is_ok_and(|status| status.success()), "the library of virtual time can't be built");
}
