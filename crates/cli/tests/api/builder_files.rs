//! Files of projects, export and import.

use crate::builder::{Builder, builder};
use crate::support::{TempFolder, json as body, refusal, start};
use chicane_builder::{Files, Project, build};
use chicane_store::BuiltIn;
use image::{DynamicImage, ImageFormat};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{Cursor, Read, Write};
use std::process::Command;
use zip::write::SimpleFileOptions;

fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::new_rgb8(width, height).write_to(&mut bytes, format).expect("encoded");
    bytes.into_inner()
}

fn put(builder: &mut Builder, id: &str, name: &str, bytes: &[u8]) -> Value {
    let answer = builder.raw("PUT", &format!("/projects/{id}/files/{name}"), bytes);
    assert_eq!(answer.status, 200, "{name}: {}", answer.text());
    body(&answer)
}

#[test]
fn pictures_and_scripts_are_stored_and_served_safely() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "empty"}));
    let stored = put(&mut builder, &id, "pictures/floor.png?editor=left", &picture(ImageFormat::Png, 30, 20));
    assert_eq!(
        (&stored["name"], &stored["width"], &stored["height"]),
        (&json!("pictures/floor.png"), &json!(30), &json!(20))
    );
    assert_eq!(stored["revision"], 2);
    put(&mut builder, &id, "photo.jpg", &picture(ImageFormat::Jpeg, 16, 16));
    put(&mut builder, &id, "judge.py", b"def initialize(sim):\n    pass\n");
    let view = builder.get(&format!("/projects/{id}"));
    assert_eq!(view["revision"], 4);
    let names: Vec<&str> =
        view["files"].as_array().expect("a list").iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["judge.py", "photo.jpg", "pictures/floor.png"]);
    assert_eq!(view["files"][0]["width"], Value::Null);
    // The slash of a file name may also be percent-encoded.
    for (name, kind) in [
        ("pictures/floor.png", "image/png"),
        ("pictures%2Ffloor.png", "image/png"),
        ("photo.jpg", "image/jpeg"),
        ("judge.py", "text/plain; charset=utf-8"),
    ] {
        let file = builder.0.0.get(&format!("/sim/api/builder/projects/{id}/files/{name}"));
        assert_eq!((file.status, file.header("content-type")), (200, Some(kind)), "{name}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
        assert!(file.header("content-security-policy").is_some_and(|policy| policy.contains("sandbox")));
    }
    let deleted = builder.done("DELETE", &format!("/projects/{id}/files/photo.jpg"), json!({}));
    assert_eq!(deleted, json!({"deleted": "photo.jpg", "revision": 5}));
    for method in ["DELETE", "GET"] {
        builder.refused(method, &format!("/projects/{id}/files/photo.jpg"), &json!({}), (404, "not_found"));
    }
}

#[test]
fn hostile_files_are_refused_and_change_nothing() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let id = builder.id(json!({"from": "empty"}));
    let png = picture(ImageFormat::Png, 8, 8);
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>".as_slice();
    let mut bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bomb.extend(60_000u32.to_be_bytes());
    bomb.extend(60_000u32.to_be_bytes());
    bomb.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    let large = vec![0; (8 << 20) + 1];
    let gif = picture(ImageFormat::Gif, 4, 4);
    let cases: &[(&str, &[u8], u16, &str)] = &[
        ("a.svg", svg, 400, "invalid_request"),
        ("a.html", svg, 400, "invalid_request"),
        ("a.png", svg, 415, "unsupported_type"),
        ("a.png", &gif, 415, "unsupported_type"),
        ("a.png", b"", 415, "unsupported_type"),
        ("a.jpg", &png, 415, "unsupported_type"),
        ("a.png", &png[..40], 422, "bad_project"),
        ("a.png", &bomb, 413, "too_large"),
        ("a.png", &large, 413, "too_large"),
        ("a.py", &large[..300_000], 413, "too_large"),
        ("a.py", b"\xff\xfe\x00", 422, "bad_project"),
        (".hidden.png", &png, 400, "invalid_request"),
        ("a%0A.png", &png, 400, "invalid_request"),
        ("..%2fa.png", &png, 400, "invalid_request"),
        ("%3Cimg%3E.png", &png, 400, "invalid_request"),
        ("C:a.png", &png, 400, "invalid_request"),
    ];
    for &(name, bytes, status, code) in cases {
        let answer = builder.raw("PUT", &format!("/projects/{id}/files/{name}"), bytes);
        let text = refusal(&answer).1;
        assert_eq!((answer.status, body(&answer)["code"].as_str()), (status, Some(code)), "{name}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    let view = builder.get(&format!("/projects/{id}"));
    assert_eq!((&view["revision"], &view["files"]), (&json!(1), &json!([])));
    for number in 0..64 {
        put(&mut builder, &id, &format!("{number}.png"), &png);
    }
    let more = builder.raw("PUT", &format!("/projects/{id}/files/more.png"), &png);
    assert_eq!((more.status, body(&more)["code"].as_str()), (409, Some("too_many_projects")));
    put(&mut builder, &id, "7.png", &png);
}

/// The entries of a zip file.
fn entries(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(zip)).expect("a zip file");
    (0..archive.len())
        .map(|i| {
            let mut entry = archive.by_index(i).expect("an entry");
            let mut bytes = Vec::new();
            let name = entry.name().expect("a name").into_owned();
            entry.read_to_end(&mut bytes).expect("read");
            (name, bytes)
        })
        .collect()
}

/// All files below a folder, with relative paths.
fn tree(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let (mut all, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("inside").display().to_string();
                all.push((name, std::fs::read(&path).expect("read")));
            }
        }
    }
    all.sort();
    all
}

fn chicane_build(project: &std::path::Path, to: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let built =
        Command::new(env!("CARGO_BIN_EXE_chicane")).arg("build").arg(project).arg("-o").arg(to).output();
    let built = built.expect("started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    tree(to)
}

#[test]
fn an_exported_project_builds_to_the_bytes_of_the_shipped_world() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let worlds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds");
    for world in BuiltIn::all() {
        let name = world.name();
        let id = builder.id(json!({"from": "world", "world": name}));
        let export = builder.0.0.get(&format!("/sim/api/builder/projects/{id}/export"));
        assert_eq!(export.status, 200);
        let scratch = TempFolder::new();
        let files = match export.header("content-type") {
            Some("application/zip") => entries(&export.body),
            _ => vec![(format!("{name}.json"), export.body.clone())],
        };
        for (file, bytes) in &files {
            let path = scratch.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, bytes).expect("written");
        }
        let exported =
            chicane_build(&scratch.path().join(format!("{name}.json")), &scratch.path().join("out"));
        let shipped = chicane_build(&worlds.join(format!("{name}.json")), &scratch.path().join("shipped"));
        assert!(exported == shipped, "{name} differs");
        assert!(exported.len() > 5, "{name} has {} files", exported.len());
    }
}

/// The files of an archive, as the builder reads them.
struct Unpacked(Vec<(String, Vec<u8>)>);

impl Files for Unpacked {
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.0.iter().find(|(file, _)| file == name).map(|(_, bytes)| Cow::Borrowed(bytes.as_slice()))
    }
}

#[test]
fn an_exported_project_can_be_imported_again() {
    let simulator = start();
    let mut builder = builder(&simulator);
    for world in ["oval", "town"] {
        let project = builder.create(json!({"from": "world", "world": world}));
        let id = project["id"].as_str().expect("an id");
        let export = builder.0.0.get(&format!("/sim/api/builder/projects/{id}/export"));
        let answer = builder.raw("POST", "/projects/import", &export.body);
        assert_eq!(answer.status, 201, "{}", answer.text());
        let imported = body(&answer);
        assert_eq!(imported["document"], project["document"]);
        let names = |view: &Value| -> Vec<Value> {
            view["files"].as_array().expect("a list").iter().map(|f| f["name"].clone()).collect()
        };
        assert_eq!(names(&imported), names(&project));
        // The first import encodes the pictures again, so the first export may differ. The second
        // and the third export must be equal.
        let id = imported["id"].as_str().expect("an id");
        let second = builder.0.0.get(&format!("/sim/api/builder/projects/{id}/export"));
        let again = body(&builder.raw("POST", "/projects/import", &second.body));
        let id = again["id"].as_str().expect("an id");
        let third = builder.0.0.get(&format!("/sim/api/builder/projects/{id}/export"));
        assert!(second.body == third.body, "{world}");
        if world == "town" {
            let files = entries(&third.body);
            let document = &files.iter().find(|(name, _)| name == "town.json").expect("a document").1;
            build(&Project::read(document).expect("a project"), &Unpacked(files.clone())).expect("built");
        }
    }
}

#[test]
fn hostile_imports_are_refused() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let document = builder.create(json!({"from": "empty"}))["document"].to_string();
    let zip = |files: &[(&str, &[u8])]| {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            archive.start_file(*name, SimpleFileOptions::default()).expect("started");
            archive.write_all(bytes).expect("written");
        }
        archive.finish().expect("packed").into_inner()
    };
    let zeros = vec![0u8; 37 << 20];
    let png = picture(ImageFormat::Png, 4, 4);
    let valid = document.as_bytes();
    let mut check = |bytes: &[u8], status: u16, what: &str| {
        let answer = builder.raw("POST", "/projects/import", bytes);
        let (found, text) = refusal(&answer);
        assert_eq!(found, status, "{what}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    };
    check(b"", 422, "nothing");
    check(b"nonsense", 422, "a text");
    check(b"{\"version\": 1}", 422, "half a document");
    check(b"PK\x03\x04broken", 422, "a broken zip file");
    check(&zip(&[("a.txt", b"x")]), 422, "no document");
    check(&zip(&[("a.json", valid), ("b.json", valid)]), 422, "two documents");
    check(&zip(&[("a.json", valid), ("../x.png", &png)]), 422, "a name that leads out");
    check(&zip(&[("a.json", valid), ("x.svg", b"<svg/>")]), 422, "another kind of file");
    check(&zip(&[("a.json", valid), ("x.png", b"<svg/>")]), 422, "a picture that is none");
    check(&zip(&[("a.json", valid), ("x.png", &zeros)]), 413, "a zip bomb");
    let many: Vec<String> = (0..250).map(|i| format!("{i}.py")).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    check(&zip(&many), 413, "too many entries");
    let some: Vec<String> = (0..65).map(|i| format!("{i}.py")).collect();
    let mut some: Vec<(&str, &[u8])> = some.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    some.push(("a.json", valid));
    check(&zip(&some), 409, "too many files");
    check(&vec![b' '; (40 << 20) + 1], 413, "too large");
    let plain = builder.0.0.request(
        "POST",
        "/sim/api/builder/projects/import",
        &[("content-type", "text/plain")],
        valid,
    );
    assert_eq!(refusal(&plain).0, 415);
    assert_eq!(builder.get("/projects")["projects"].as_array().map(Vec::len), Some(1));
    // An archive in which all files are in one folder is accepted.
    let answer = builder.raw("POST", "/projects/import", &zip(&[("top/a.json", valid), ("top/x.png", &png)]));
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(body(&answer)["files"][0]["name"], "x.png");
}
