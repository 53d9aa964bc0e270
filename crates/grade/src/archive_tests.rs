use super::*;
use std::io::Cursor;
use zip::write::SimpleFileOptions;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("chicane-archive-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        Scratch(path)
    }

    /// Unpacks the bytes of an archive.
    fn unpack(&self, bytes: &[u8], limits: Limits) -> Result<PathBuf, ArchiveError> {
        let (file, to) = (self.0.join("a.zip"), self.0.join("out"));
        let _ = std::fs::remove_dir_all(&to);
        std::fs::write(&file, bytes).expect("written");
        unpack(&file, &to, limits).map(|()| to)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An archive with these entries: path, content, and the target if the entry is a symbolic link.
fn archive(entries: &[(&str, &[u8], Option<&str>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes, target) in entries {
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        match target {
            Some(target) => writer.add_symlink(*name, *target, options).expect("a link"),
            None if name.ends_with('/') => writer.add_directory(*name, options).expect("a folder"),
            None => {
                writer.start_file(*name, options).expect("a file");
                writer.write_all(bytes).expect("written");
            }
        }
    }
    writer.finish().expect("finished").into_inner()
}

fn file<'a>(name: &'a str, bytes: &'a [u8]) -> (&'a str, &'a [u8], Option<&'a str>) {
    (name, bytes, None)
}

#[test]
fn an_ordinary_archive_is_unpacked() {
    let scratch = Scratch::new("ordinary");
    let bytes = archive(&[
        file("race/", b""),
        file("race/main.py", b"print(1)"),
        file("race/./data//größe.txt", b"x"),
        file("back\\slash.py", b"y"),
        ("race/link", b"", Some("../race/main.py")),
    ]);
    let to = scratch.unpack(&bytes, SUBMISSION).expect("unpacked");
    assert_eq!(std::fs::read(to.join("race/main.py")).expect("a file"), b"print(1)");
    assert_eq!(std::fs::read(to.join("race/link")).expect("a file"), b"print(1)");
    assert_eq!(std::fs::read(to.join("race/data/größe.txt")).expect("a file"), b"x");
    assert_eq!(std::fs::read(to.join("back/slash.py")).expect("a file"), b"y");
}

#[test]
fn entries_that_lead_out_of_the_folder_are_refused() {
    let scratch = Scratch::new("out");
    let long = "x".repeat(300);
    let deep = "d/".repeat(40) + "f";
    for name in ["../evil", "a/../../evil", "/etc/evil", "..\\evil", "C:\\evil", "a\0b", "a\nb", &long, &deep]
    {
        let refused = scratch.unpack(&archive(&[file("ok", b""), file(name, b"evil")]), SUBMISSION);
        assert!(matches!(refused, Err(ArchiveError::Name(_))), "{name:?}: {refused:?}");
    }
    assert!(!scratch.0.join("evil").exists());
}

#[test]
fn links_that_lead_out_of_the_folder_are_refused() {
    let scratch = Scratch::new("links");
    for (path, target) in [
        ("link", "/etc/passwd"),
        ("link", "../secret"),
        ("a/link", "../../secret"),
        ("link", "a/../../secret"),
        // The link `a/b/root` points to the root folder, so this second link would point to the
        // folder above the root folder.
        ("link", "a/b/root/.."),
        ("link", ""),
    ] {
        let bytes = archive(&[("a/b/root", b"", Some("../..")), (path, b"", Some(target))]);
        let refused = scratch.unpack(&bytes, SUBMISSION);
        assert!(matches!(refused, Err(ArchiveError::Link(_))), "{target:?}: {refused:?}");
    }
    // The archive has a link `out` that leads out, and a file below it. The file must not be
    // written through the link.
    let bytes = archive(&[("out", b"", Some("..")), file("out/evil", b"evil")]);
    assert!(scratch.unpack(&bytes, SUBMISSION).is_err());
    assert!(!scratch.0.join("evil").exists());
}

#[test]
fn bombs_are_refused() {
    let scratch = Scratch::new("bombs");
    let zeros = vec![0; 20 << 20];
    let bomb = archive(&[file("zeros", &zeros)]);
    assert!(bomb.len() < 100_000);
    assert!(matches!(scratch.unpack(&bomb, SUBMISSION), Err(ArchiveError::Bomb)));
    let large = archive(&[file("a", &[7; 3000]), file("b", &[8; 3000])]);
    let limits = Limits { bytes: 5000, entries: 10 };
    assert!(matches!(scratch.unpack(&large, limits), Err(ArchiveError::TooLarge(5000))));
    let names: Vec<String> = (0..30).map(|i| format!("f{i}")).collect();
    let many = archive(&names.iter().map(|name| file(name, b"")).collect::<Vec<_>>());
    let limits = Limits { bytes: 1 << 20, entries: 20 };
    assert!(matches!(scratch.unpack(&many, limits), Err(ArchiveError::TooMany(20))));
    // The archive has only 10 entries, but their paths make 60 folders.
    let nested: Vec<String> = (0..10).map(|i| format!("{i}/a/b/c/d/e/f")).collect();
    let nested = archive(&nested.iter().map(|name| file(name, b"")).collect::<Vec<_>>());
    assert!(matches!(scratch.unpack(&nested, limits), Err(ArchiveError::TooMany(20))));
}

#[test]
fn damaged_archives_are_refused() {
    let scratch = Scratch::new("damaged");
    let good = archive(&[file("main.py", &b"print('hello')\n".repeat(50)), file("b", b"x")]);
    for bad in [&b""[..], b"not a zip file", &good[..good.len() - 30], &good[10..]] {
        assert!(scratch.unpack(bad, SUBMISSION).is_err());
    }
    // Unpacking must not panic, whichever byte is changed.
    for i in 0..good.len() {
        let mut changed = good.clone();
        changed[i] ^= 0x55;
        let _ = scratch.unpack(&changed, SUBMISSION);
    }
    let twice = archive(&[file("a/b", b"1"), file("a//b", b"2")]);
    assert!(matches!(scratch.unpack(&twice, SUBMISSION), Err(ArchiveError::Twice(_))));
    let both = archive(&[file("a", b"1"), file("a/b", b"2")]);
    assert!(scratch.unpack(&both, SUBMISSION).is_err());
}

#[test]
fn one_bad_entry_stopped_a_whole_class() {
    let scratch = Scratch::new("class");
    let (file_of_all, to) = (scratch.0.join("all.zip"), scratch.0.join("out"));
    let bytes = archive(&[
        file("ada/main.py", b"print(1)"),
        file("bob/main.py", b"print(2)"),
        ("bob/venv/bin/python", b"", Some("/usr/bin/python3")),
        file("cy/a/12:30.log", b"x"),
        file("cy/b/12:30.log", b"x"),
        file("__MACOSX/12:30.log", b"x"),
        file("../evil.py", b"x"),
    ]);
    std::fs::write(&file_of_all, bytes).expect("written");
    let left_out = unpack_class(&file_of_all, &to, CLASS).expect("unpacked");
    let shown: Vec<_> =
        left_out.iter().map(|(path, why)| (path.to_str().unwrap_or(""), why.to_string())).collect();
    assert_eq!(
        shown,
        [
            ("cy/a", "the zip file has an entry with the unsafe name \"cy/a/12:30.log\"".to_owned()),
            ("cy/b", "the zip file has an entry with the unsafe name \"cy/b/12:30.log\"".to_owned()),
            ("__MACOSX", "the zip file has an entry with the unsafe name \"__MACOSX/12:30.log\"".to_owned()),
            ("", "the zip file has an entry with the unsafe name \"../evil.py\"".to_owned()),
            (
                "bob/venv/bin/python",
                "the symbolic link \"bob/venv/bin/python\" leads out of the submission".to_owned()
            ),
        ]
    );
    std::fs::remove_dir_all(&to).expect("removed");
    let found = crate::submissions::find(&file_of_all, &to).expect("a class");
    let rows: Vec<_> =
        found.submissions.iter().map(|row| (row.name.as_str(), row.problem.is_some())).collect();
    assert_eq!(rows, [("ada", false), ("bob", true), ("cy", true)]);
    assert!(!scratch.0.join("evil.py").exists());
}
