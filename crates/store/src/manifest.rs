//! The two documents of a published world: `meta.json`, which may change, and `manifest.json`,
//! which never changes. The world id is the start of a checksum of the manifest (see `sum.rs`).

use crate::rules::{FilePath, Unfit, quoted};
use crate::sum::{Sum, ZEROS, names_of};
use chicane_wire::WorldId;
use serde_json::{Map, Value, json};

/// Limit of the size of `meta.json` in bytes.
pub const MAX_META: usize = 1 << 20;
/// Limit of the size of `manifest.json` in bytes.
pub const MAX_MANIFEST: usize = 2 << 20;
/// Maximum length of a display name, characters.
const MAX_NAME: usize = 100;

/// Who may download a published world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everyone. The world is listed.
    Public,
    /// Everyone who knows the id.
    Unlisted,
    /// Clients with the token of the CDN.
    Private,
}

impl Access {
    /// Reads `public`, `unlisted` or `private`. `None` for any other text.
    pub fn parse(text: &str) -> Option<Access> {
        [Access::Public, Access::Unlisted, Access::Private].into_iter().find(|a| a.word() == text)
    }

    /// The name of the access in `meta.json` and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Access::Public => "public",
            Access::Unlisted => "unlisted",
            Access::Private => "private",
        }
    }
}

/// A revision: 8 to 24 characters of `0-9a-z`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rev(String);

impl Rev {
    /// Reads a revision. `None` if the text is not a revision.
    pub fn parse(text: &str) -> Option<Rev> {
        let fits = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
        ((8..=24).contains(&text.len()) && text.bytes().all(fits)).then(|| Rev(text.to_owned()))
    }

    /// The revision as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text can be a display name: one line of 1 to 100 characters that are not all blank.
pub fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_NAME && !text.chars().any(char::is_control)
}

/// The content of `meta.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// Revision of the files.
    pub rev: Rev,
    /// Display name.
    pub name: String,
    /// Who may download the world.
    pub access: Access,
    /// Size along x and y in metres, as in [`Summary`](crate::Summary).
    pub size: [f64; 2],
    /// Sequence number. It grows with every change of this document.
    pub seq: u64,
    /// Paths of all files.
    pub files: Vec<FilePath>,
}

impl Meta {
    /// Reads the `meta.json` of a world. Only `rev` and `files` are required.
    pub fn read(id: &WorldId, bytes: &[u8]) -> Result<Meta, Unfit> {
        let wrong = |why: &str| Unfit::Rule(format!("meta.json {why}"));
        let fields = object(bytes, "meta.json")?;
        check_version(&fields, "meta.json")?;
        if fields.get("world_id").is_some_and(|v| v.as_str() != Some(id.as_str())) {
            return Err(wrong("belongs to another world"));
        }
        let rev = fields.get("rev").and_then(Value::as_str).and_then(Rev::parse);
        let rev = rev.ok_or_else(|| wrong("has no rev (8 to 24 characters of 0-9 and a-z)"))?;
        let files = fields.get("files").and_then(Value::as_array);
        let files = files.ok_or_else(|| wrong("has no list of files"))?;
        if files.len() > crate::rules::MAX_FILES {
            return Err(Unfit::TooLarge(format!(
                "the world has {} files; at most 2000 are allowed",
                files.len()
            )));
        }
        let path = |v: &Value| {
            FilePath::parse(v.as_str().ok_or_else(|| wrong("lists an entry that is not a path"))?)
        };
        let name = fields.get("name").and_then(Value::as_str).map(str::trim).filter(|n| is_name(n));
        let number = |v: Option<&Value>| v.and_then(Value::as_f64).filter(|n| n.is_finite() && *n >= 0.0);
        let size = fields.get("size").and_then(Value::as_array);
        let side = |i: usize| number(size.and_then(|s| s.get(i))).unwrap_or(0.0);
        Ok(Meta {
            rev,
            name: name.map_or_else(|| format!("World {}", &id.as_str()[..8]), str::to_owned),
            access: fields
                .get("access")
                .and_then(Value::as_str)
                .and_then(Access::parse)
                .unwrap_or(Access::Unlisted),
            size: [side(0), side(1)],
            seq: fields.get("seq").and_then(Value::as_u64).unwrap_or(0),
            files: files.iter().map(path).collect::<Result<_, _>>()?,
        })
    }

    /// The document as JSON.
    pub fn json(&self, id: &WorldId) -> Value {
        json!({
            "v": 1,
            "world_id": id.as_str(),
            "rev": self.rev.as_str(),
            "name": self.name,
            "access": self.access.word(),
            "size": self.size,
            "seq": self.seq,
            "files": self.files.iter().map(FilePath::as_str).collect::<Vec<_>>(),
        })
    }
}

/// A file in a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Path of the file.
    pub path: FilePath,
    /// Size in bytes.
    pub size: u64,
    /// Checksum of the bytes.
    pub sum: Sum,
}

/// The content of `manifest.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// All files.
    pub files: Vec<Listed>,
    /// The document without its id and revision. Unknown keys are kept, because the checksum covers
    /// them.
    document: Map<String, Value>,
}

impl Manifest {
    /// A new document. Id and revision are missing, because they are computed from the document.
    pub(crate) fn new(files: Vec<Listed>, created_at: &str, nonce: &str, evaluation: bool) -> Manifest {
        let listed = |f: &Listed| json!({"path": f.path.as_str(), "size": f.size, "sha256": f.sum.hex()});
        let mut document = Map::new();
        document.insert("v".to_owned(), json!(1));
        document.insert("created_at".to_owned(), json!(created_at));
        document.insert("nonce".to_owned(), json!(nonce));
        document.insert("evaluation".to_owned(), json!(evaluation));
        document.insert("files".to_owned(), files.iter().map(listed).collect());
        Manifest { files, document }
    }

    /// Reads the `manifest.json` of a world. Does not check whether the id was computed from this
    /// document.
    pub fn read(id: &WorldId, rev: &Rev, bytes: &[u8]) -> Result<Manifest, Unfit> {
        let wrong = |why: &str| Unfit::Rule(format!("manifest.json {why}"));
        let mut document = object(bytes, "manifest.json")?;
        check_version(&document, "manifest.json")?;
        for (key, value) in [("world_id", id.as_str()), ("rev", rev.as_str())] {
            let found = document.remove(key);
            if found.as_ref().and_then(Value::as_str) != Some(value) {
                return Err(wrong("belongs to another world or revision"));
            }
        }
        if !document.get("nonce").is_some_and(Value::is_string) {
            return Err(wrong("has no nonce"));
        }
        let Some(Value::Array(listed)) = document.get("files") else {
            return Err(wrong("has no list of files"));
        };
        if listed.len() > crate::rules::MAX_FILES {
            return Err(Unfit::TooLarge(format!(
                "the world has {} files; at most 2000 are allowed",
                listed.len()
            )));
        }
        let mut files = Vec::with_capacity(listed.len());
        for file in listed {
            let text = |key: &str| file.get(key).and_then(Value::as_str);
            let path = FilePath::parse(text("path").ok_or_else(|| wrong("lists a file without a path"))?)?;
            let size = file.get("size").and_then(Value::as_u64);
            let sum = text("sha256").and_then(Sum::parse);
            let (Some(size), Some(sum)) = (size, sum) else {
                return Err(wrong(&format!("needs path, size and sha256 of {}", quoted(path.as_str()))));
            };
            files.push(Listed { path, size, sum });
        }
        Ok(Manifest { files, document })
    }

    /// The document with id and revision.
    pub(crate) fn json(&self, id: &WorldId, rev: &Rev) -> Value {
        let mut document = self.document.clone();
        document.insert("world_id".to_owned(), json!(id.as_str()));
        document.insert("rev".to_owned(), json!(rev.as_str()));
        Value::Object(document)
    }

    /// Computes the world id and the revision. `id` is the text at the place of the world id in the
    /// paths: the id itself, or a placeholder. This function replaces it with zeros before hashing.
    /// `neutral` contains the checksums of the files in neutral form (see `sum.rs`), in the order
    /// of the files.
    pub(crate) fn names(&self, id: &str, neutral: &[Sum]) -> (Option<WorldId>, String) {
        let mut document = self.document.clone();
        if let Some(Value::Array(listed)) = document.get_mut("files") {
            for ((entry, file), sum) in listed.iter_mut().zip(&self.files).zip(neutral) {
                entry["path"] = json!(file.path.as_str().replace(id, ZEROS));
                entry["sha256"] = json!(sum.hex());
            }
        }
        names_of(Sum::of(canonical(&Value::Object(document)).as_bytes()))
    }
}

fn object(bytes: &[u8], file: &str) -> Result<Map<String, Value>, Unfit> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Unfit::Rule(format!("{file} is not a JSON object"))),
        Err(e) => Err(Unfit::Rule(format!("{file} is not JSON: {e}"))),
    }
}

fn check_version(fields: &Map<String, Value>, file: &str) -> Result<(), Unfit> {
    match fields.get("v") {
        None => Ok(()),
        Some(v) if v.as_u64() == Some(1) => Ok(()),
        Some(_) => Err(Unfit::Rule(format!("{file} has a version that this simulator does not know"))),
    }
}

/// JSON in canonical form: keys sorted, no blanks.
fn canonical(value: &Value) -> String {
    let parts = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Object(fields) => {
            let mut all: Vec<_> = fields.iter().collect();
            all.sort_by_key(|(key, _)| *key);
            let all = all.into_iter().map(|(key, v)| format!("{}:{}", json!(key), canonical(v)));
            format!("{{{}}}", parts(all.collect()))
        }
        Value::Array(list) => format!("[{}]", parts(list.iter().map(canonical).collect())),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn id() -> WorldId {
        WorldId::parse(ID).expect("an id")
    }

    fn meta(value: &Value) -> Result<Meta, Unfit> {
        Meta::read(&id(), value.to_string().as_bytes())
    }

    #[test]
    fn a_meta_requires_only_rev_and_files() {
        let least = meta(&json!({"rev": "abcd1234", "files": ["worlds/a.world"]})).expect("read");
        assert_eq!(
            (least.name.as_str(), least.access, least.size),
            ("World 01234567", Access::Unlisted, [0.0; 2])
        );
        let odd =
            json!({"rev": "abcd1234", "files": [], "name": 5, "access": "all", "size": "big", "more": {}});
        assert_eq!(meta(&odd).expect("read").name, "World 01234567");
        let whole =
            Meta { name: "Ring".to_owned(), access: Access::Public, size: [8.0, 6.5], seq: 7, ..least };
        assert_eq!(meta(&whole.json(&id())), Ok(whole));
    }

    #[test]
    fn the_error_of_a_wrong_meta_names_the_problem() {
        let many = vec!["worlds/a.world"; 2001];
        for (wrong, word) in [
            (json!([]), "object"),
            (json!({"files": []}), "rev"),
            (json!({"rev": "ABCDEFGH", "files": []}), "rev"),
            (json!({"rev": "abc", "files": []}), "rev"),
            (json!({"rev": "abcd1234"}), "files"),
            (json!({"rev": "abcd1234", "files": [5]}), "path"),
            (json!({"rev": "abcd1234", "files": ["../x"]}), "path"),
            (json!({"rev": "abcd1234", "files": [], "v": 2}), "version"),
            (json!({"rev": "abcd1234", "files": [], "world_id": "x"}), "another"),
            (json!({"rev": "abcd1234", "files": many}), "2000"),
        ] {
            let e = meta(&wrong).expect_err("wrong").to_string();
            assert!(e.contains(word), "{wrong}: {e}");
        }
        assert!(Meta::read(&id(), b"{").expect_err("torn").to_string().starts_with("meta.json is not JSON"));
    }

    #[test]
    fn the_id_covers_everything_except_id_and_rev() {
        let file = |path: &str| Listed {
            path: FilePath::parse(path).expect("a path"),
            size: 3,
            sum: Sum::of(b"abc"),
        };
        let path = format!("worlds/custom_{ID}.world");
        let neutral = [Sum::of(b"neutral")];
        let manifest = Manifest::new(vec![file(&path)], "2026-01-01T00:00:00Z", "n", true);
        let (first, rev) = manifest.names(ID, &neutral);
        let rev = Rev::parse(&rev).expect("a rev");
        let bytes = manifest.json(&id(), &rev).to_string();
        let read = Manifest::read(&id(), &rev, bytes.as_bytes()).expect("read");
        assert_eq!(read, manifest);
        assert_eq!(read.names(ID, &neutral).0, first);
        // The same files under another id have the same checksum.
        let other = "f".repeat(32);
        let elsewhere =
            Manifest::new(vec![file(&path.replace(ID, &other))], "2026-01-01T00:00:00Z", "n", true);
        assert_eq!(elsewhere.names(&other, &neutral).0, first);
        for changed in [
            Manifest::new(vec![file(&path)], "2026-01-01T00:00:01Z", "n", true),
            Manifest::new(vec![file(&path)], "2026-01-01T00:00:00Z", "m", true),
            Manifest::new(vec![file(&path)], "2026-01-01T00:00:00Z", "n", false),
            Manifest::new(vec![], "2026-01-01T00:00:00Z", "n", true),
        ] {
            assert_ne!(changed.names(ID, &neutral[..changed.files.len()]).0, first);
        }
        assert_ne!(manifest.names(ID, &[Sum::of(b"other")]).0, first);
    }

    #[test]
    fn a_wrong_manifest_is_refused() {
        let rev = Rev::parse("abcd1234").expect("a rev");
        let good = json!({"v": 1, "world_id": ID, "rev": "abcd1234", "nonce": "n",
            "files": [{"path": "worlds/a.world", "size": 1, "sha256": "0".repeat(64)}]});
        let read = |value: &Value| Manifest::read(&id(), &rev, value.to_string().as_bytes());
        assert!(read(&good).is_ok());
        for (key, value) in [
            ("world_id", json!("f".repeat(32))),
            ("world_id", Value::Null),
            ("rev", json!("abcd1235")),
            ("nonce", Value::Null),
            ("files", json!({})),
            ("files", json!([{"path": "worlds/a.world", "size": -1, "sha256": "0".repeat(64)}])),
            ("files", json!([{"path": "worlds/a.world", "size": 1.5, "sha256": "0".repeat(64)}])),
            ("files", json!([{"path": "worlds/a.world", "size": 1, "sha256": "0"}])),
            ("files", json!([{"path": "/etc/passwd", "size": 1, "sha256": "0".repeat(64)}])),
            ("files", json!(["worlds/a"])),
            ("v", json!("1")),
        ] {
            let mut wrong = good.clone();
            wrong[key] = value.clone();
            assert!(read(&wrong).is_err(), "{key} {value}");
        }
    }

    #[test]
    fn canonical_json_sorts_keys_and_has_no_blanks() {
        let value = json!({"b": [1, {"z": null, "a": "é\n"}], "a": 0.5});
        assert_eq!(canonical(&value), r#"{"a":0.5,"b":[1,{"a":"é\n","z":null}]}"#);
    }
}
