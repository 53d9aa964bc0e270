//! The files of a program that a client sends with the start of its session.

use crate::fields::{Fields, Invalid};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// Maximum number of files.
pub const MAX_PROGRAM_FILES: usize = 32;
/// Maximum size of all files together, bytes.
pub const MAX_PROGRAM_BYTES: usize = 512 << 10;
/// Maximum length of a path, bytes.
const MAX_PATH: usize = 200;
/// Maximum number of names in a path.
const MAX_DEPTH: usize = 8;

/// The files of a program: the text of each file by its path. The paths are relative, and no path
/// is a parent folder of another path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramFiles(BTreeMap<String, String>);

impl ProgramFiles {
    /// Parses the field `files` of a request; `None` if it is omitted.
    pub(crate) fn parse(fields: &Fields) -> Result<Option<ProgramFiles>, Invalid> {
        let Some(value) = fields.get("files") else { return Ok(None) };
        let wrong = || {
            Invalid::new(format!(
                "files must have 1 to {MAX_PROGRAM_FILES} texts, each by its file name, of at most {} KiB together",
                MAX_PROGRAM_BYTES >> 10
            ))
        };
        let Value::Object(map) = value else { return Err(wrong()) };
        let mut files = BTreeMap::new();
        let mut bytes = 0;
        for (path, text) in map {
            let Value::String(text) = text else { return Err(wrong()) };
            if !is_path(path) {
                return Err(Invalid::new(
                    "a name in files must be a relative path such as main.py or lib/drive.py",
                ));
            }
            bytes += text.len();
            files.insert(path.clone(), text.clone());
        }
        if files.is_empty() || files.len() > MAX_PROGRAM_FILES || bytes > MAX_PROGRAM_BYTES {
            return Err(wrong());
        }
        if let Some(path) = files.keys().find(|path| is_folder_of_a_file(path, &files)) {
            return Err(Invalid::new(format!("\"{path}\" in files is a file and a folder")));
        }
        Ok(Some(ProgramFiles(files)))
    }

    /// The files by their path, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }
}

/// The schema of the field `files`. It allows only names without folders, so that every name that
/// fits the schema is also a valid path.
pub(crate) fn files_schema() -> Object {
    let name = ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(MAX_PATH / 4))
        .pattern(Some(r"^[A-Za-z0-9_]+(\.[a-z]+)?$"));
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
        .description(Some(
            "The files of the program, at most 32 texts by their relative paths, together at most 512 KiB. The command then runs in a folder with these files. If omitted, it runs in the workspace.",
        ))
        .property_names(Some(name))
        .additional_properties(Some(ObjectBuilder::new().schema_type(Type::String)))
        .min_properties(Some(1))
        .max_properties(Some(MAX_PROGRAM_FILES))
        .build()
}

fn is_path(path: &str) -> bool {
    let is_name = |name: &str| !matches!(name, "" | "." | "..");
    path.len() <= MAX_PATH
        && path.split('/').count() <= MAX_DEPTH
        && path.split('/').all(is_name)
        && !path.contains('\\')
        && !path.chars().any(char::is_control)
}

fn is_folder_of_a_file(path: &str, files: &BTreeMap<String, String>) -> bool {
    let below = format!("{path}/");
    files.range(below.clone()..).next().is_some_and(|(other, _)| other.starts_with(&below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(files: Value) -> Result<Option<ProgramFiles>, Invalid> {
        ProgramFiles::parse(&Fields::read(json!({ "files": files }).to_string().as_bytes()).expect("JSON"))
    }

    #[test]
    fn files_are_parsed() {
        assert_eq!(parse(Value::Null), Ok(None));
        let files = parse(json!({"main.py": "print(1)", "lib/a b.py": ""})).expect("valid").expect("files");
        assert_eq!(files.iter().collect::<Vec<_>>(), [("lib/a b.py", ""), ("main.py", "print(1)")]);
        assert!(parse(json!({"a": "x".repeat(MAX_PROGRAM_BYTES)})).is_ok());
    }

    #[test]
    fn paths_out_of_the_folder_are_refused() {
        let deep = "a/".repeat(MAX_DEPTH) + "b";
        let long = "a".repeat(MAX_PATH + 1);
        let bad = [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "a/",
            "./a",
            "a\\b",
            "a\0b",
            "a\nb",
            &deep,
            &long,
        ];
        for path in bad {
            assert!(parse(json!({path: ""})).expect_err(path).0.contains("relative path"), "{path:?}");
        }
    }

    #[test]
    fn too_many_or_too_large_files_are_refused() {
        let many: serde_json::Map<String, Value> =
            (0..=MAX_PROGRAM_FILES).map(|i| (format!("f{i}"), json!(""))).collect();
        let large = "x".repeat(MAX_PROGRAM_BYTES / 2 + 1);
        for bad in
            [json!({}), json!([]), json!("x"), json!({"a": 1}), many.into(), json!({"a": large, "b": large})]
        {
            assert!(parse(bad).expect_err("refused").0.starts_with("files must have 1 to 32 texts"));
        }
        assert_eq!(
            parse(json!({"a": "", "a.b": "", "a/b": ""})).expect_err("refused").0,
            "\"a\" in files is a file and a folder"
        );
    }
}
