//! Writes the shipped worlds to a folder: `make-worlds worlds`.
#![allow(clippy::disallowed_methods)]

use chicane_testkit::{SHIPPED, shipped_bundle};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(root) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("make-worlds: say where to, such as `make-worlds worlds`");
        return ExitCode::FAILURE;
    };
    for name in SHIPPED {
        let bundle = shipped_bundle(name);
        for (path, bytes) in &bundle.files {
            let path = root.join(name).join(path);
            let written = path
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&path, bytes));
            if let Err(e) = written {
                eprintln!("make-worlds: {}: {e}", path.display());
                return ExitCode::FAILURE;
            }
        }
        println!("{name}: {} files", bundle.files.len());
    }
    ExitCode::SUCCESS
}
