use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::atomic::{AtomicU64, Ordering};

const LIMITS: WorkspaceLimits = WorkspaceLimits { bytes: 64 << 20, entries: 1000 };

/// A temporary folder. It is removed on drop.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new() -> TempFolder {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("chicane-copy-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        TempFolder(path)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("written");
        path
    }

    fn scan(&self) -> Workspace {
        Workspace::scan(&self.0, LIMITS, &[], &[]).expect("scanned")
    }

    fn identity(&self) -> ProgramIdentity {
        self.scan().read(None).expect("read")
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Copies a workspace into a new folder over a socket, as into a box.
fn copy(workspace: &Workspace) -> (TempFolder, ProgramIdentity) {
    let to = TempFolder::new();
    let (here, there) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("a pair");
    let identity = std::thread::scope(|scope| {
        let reader = scope.spawn(|| receive(&there, &to.0));
        let identity = workspace.read(Some(here.as_fd())).expect("sent");
        rustix::net::send(&here, b"next message", SendFlags::empty()).expect("sent");
        reader.join().expect("no panic").expect("received");
        identity
    });
    let mut next = [0; 32];
    let n = rustix::io::read(&there, &mut next).expect("read");
    assert_eq!(&next[..n], b"next message", "the copy took bytes of the next message");
    (to, identity)
}

#[test]
fn a_copy_has_the_same_files_links_and_modes() {
    let from = TempFolder::new();
    let big: Vec<u8> = (0..900_000u32).flat_map(u32::to_le_bytes).collect();
    from.file("main.py", "print('x')\n");
    from.file("empty", "");
    from.file("deep/er/big.bin", &big);
    std::fs::create_dir(from.0.join("empty-folder")).expect("a folder");
    let run = from.file("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).expect("executable");
    symlink("deep/er", from.0.join("link")).expect("a link");
    symlink("/etc/passwd", from.0.join("outside")).expect("a link");
    let (to, identity) = copy(&from.scan());
    assert_eq!(std::fs::read(to.0.join("deep/er/big.bin")).expect("read"), big);
    assert_eq!(std::fs::read_to_string(to.0.join("main.py")).expect("read"), "print('x')\n");
    assert_eq!(std::fs::read_link(to.0.join("link")).expect("a link"), Path::new("deep/er"));
    assert_eq!(std::fs::read_link(to.0.join("outside")).expect("a link"), Path::new("/etc/passwd"));
    assert!(to.0.join("empty-folder").is_dir() && to.0.join("empty").is_file());
    let mode = |name: &str| to.0.join(name).metadata().expect("metadata").mode() & 0o777;
    assert_eq!((mode("run.sh"), mode("main.py")), (0o755, 0o644));
    let modified = |folder: &TempFolder| folder.0.join("main.py").metadata().expect("metadata").mtime();
    assert_eq!(modified(&from), modified(&to));
    assert_eq!((identity.files, identity.bytes), (6, big.len() as u64 + 11 + 10));
    assert_eq!(to.identity(), identity, "the copy has another identity");
}

#[test]
fn the_identity_depends_on_names_content_and_the_executable_bit_only() {
    let folder = TempFolder::new();
    let file = folder.file("a.py", "1");
    // This value must never change, because the identity in a record may be compared with an
    // identity that another machine computes.
    let first = folder.identity();
    assert_eq!(first.sha256, "ff64fb1a4826062a6ea30f7b97245e2dad418b0d31c10d89a2b8f60efb1c1567", "{first:?}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("set");
    let ignored = [
        ".git/config",
        "__pycache__/a.pyc",
        "node_modules/x.js",
        "target/CACHEDIR.TAG",
        "build/.rustc_info.json",
    ];
    for ignored in ignored {
        folder.file(ignored, "x");
    }
    assert_eq!(folder.identity(), first);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).expect("set");
    let executable = folder.identity();
    folder.file("a.py", "2");
    let content = folder.identity();
    std::fs::rename(&file, folder.0.join("b.py")).expect("renamed");
    let renamed = folder.identity();
    folder.file("target/x", "x");
    std::fs::remove_file(folder.0.join("target/CACHEDIR.TAG")).expect("removed");
    let more = folder.identity();
    let all: BTreeSet<String> =
        [first, executable, content, renamed, more].into_iter().map(|identity| identity.sha256).collect();
    assert_eq!(all.len(), 5, "{all:?}");
}

#[test]
fn a_workspace_above_a_limit_is_refused_with_its_size_and_the_remedy() {
    let folder = TempFolder::new();
    let file = std::fs::File::create(folder.0.join("big")).expect("a file");
    file.set_len(2 << 30).expect("a sparse file");
    let error = Workspace::scan(&folder.0, LIMITS, &[], &[]).expect_err("too large").to_string();
    assert!(error.contains("has 2048 MiB of files, and the box holds 64 MiB"), "{error}");
    assert!(error.contains("--student-files 2048") && error.contains("--workspace"), "{error}");
    drop(file);
    std::fs::remove_file(folder.0.join("big")).expect("removed");
    for i in 0..20 {
        folder.file(&format!("d{}/{i}", i % 4), "");
    }
    let limits = WorkspaceLimits { entries: 23, ..LIMITS };
    let error = Workspace::scan(&folder.0, limits, &[], &[]).expect_err("too many").to_string();
    assert!(error.contains("more than 23 files"), "{error}");
    let limits = WorkspaceLimits { entries: 24, ..LIMITS };
    assert_eq!(Workspace::scan(&folder.0, limits, &[], &[]).expect("enough").size().0, 20);
}

#[test]
fn hidden_folders_and_virtual_environments_are_not_copied() {
    let folder = TempFolder::new();
    folder.file("main.py", "");
    folder.file("data/token", "secret");
    folder.file("sub/.venv/pyvenv.cfg", "home = /usr/bin\n");
    folder.file("sub/.venv/big", "x");
    folder.file("models/net.bin", "x");
    let hidden = [folder.0.join("data")];
    let mounted = [folder.0.join("models")];
    let workspace = Workspace::scan(&folder.0, LIMITS, &hidden, &mounted).expect("scanned");
    assert_eq!(workspace.mounted(), [Path::new("models"), Path::new("sub/.venv")]);
    let (to, identity) = copy(&workspace);
    assert_eq!(identity.files, 1);
    let names: BTreeSet<_> =
        std::fs::read_dir(&to.0).expect("read").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, BTreeSet::from(["main.py".into(), "sub".into()]));
    let own = [folder.0.clone()];
    let workspace = Workspace::scan(&folder.0, LIMITS, &own, &[]).expect("scanned");
    assert_eq!(workspace.size(), (0, 0), "a hidden workspace was read");
}

#[test]
fn a_file_that_becomes_a_link_or_pipe_or_shrinks_is_an_error() {
    let folder = TempFolder::new();
    let file = folder.file("a", "12345");
    let workspace = folder.scan();
    for change in [
        (|path| std::fs::remove_file(path)) as fn(&Path) -> io::Result<()>,
        |path| symlink("/etc/passwd", path),
        |path| {
            std::fs::remove_file(path)?;
            rustix::fs::mknodat(rustix::fs::CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
            Ok(())
        },
        |path| {
            std::fs::remove_file(path)?;
            std::fs::write(path, "123")
        },
    ] {
        change(&file).expect("changed");
        let error = workspace.read(None).expect_err("changed").to_string();
        assert!(error.contains("a of the workspace was changed"), "{error}");
    }
    // For comparison: a file that grew after the scan causes no error. It is read up to its size at
    // the scan, so the identity is that of the file `12345`.
    std::fs::write(&file, "123456789").expect("written");
    let grown = workspace.read(None).expect("read");
    std::fs::write(&file, "12345").expect("written");
    assert_eq!(grown, folder.identity());
}

#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    let folder = TempFolder::new();
    folder.file("inner/a", "x");
    let workspace = folder.scan();
    std::fs::rename(folder.0.join("inner"), folder.0.join("moved")).expect("renamed");
    symlink("moved", folder.0.join("inner")).expect("a link");
    assert!(matches!(workspace.read(None), Err(WorkspaceError::Changed(_))));
}

#[test]
fn a_workspace_can_be_copied_into_a_folder() {
    let (from, to) = (TempFolder::new(), TempFolder::new());
    from.file("a/b", "x");
    let identity = copy_workspace(&from.0, &to.0).expect("copied");
    assert_eq!(identity, to.identity());
    let error = copy_workspace(&from.0.join("missing"), &to.0).expect_err("no folder").to_string();
    assert!(error.contains("can't be opened"), "{error}");
    let error = copy_workspace(&from.0, &to.0).expect_err("not empty").to_string();
    assert!(error.contains("a can't be copied into the box"), "{error}");
}
