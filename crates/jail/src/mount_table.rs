//! The mounts of this process, read from `/proc/self/mountinfo`.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountPoint {
    /// Major and minor number of the file system.
    pub(super) device: String,
    /// Path of the mounted folder within its file system.
    pub(super) root: PathBuf,
    /// Where the folder is mounted.
    pub(super) path: PathBuf,
    /// Type of the file system.
    pub(super) kind: String,
}

/// All mounts of this process, in the order in which they were mounted.
pub(super) fn mount_table() -> io::Result<Vec<MountPoint>> {
    let text = std::fs::read("/proc/self/mountinfo")?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(parse).collect())
}

/// Parses one line. `None` if the line does not have the expected fields.
fn parse(line: &[u8]) -> Option<MountPoint> {
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let (device, root, path) = (fields.next()?, fields.next()?, fields.next()?);
    // Optional fields follow, up to a field that is a hyphen. The type of the file system comes
    // after the hyphen.
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(MountPoint { device: text(device), root: unescaped(root), path: unescaped(path), kind: text(kind) })
}

/// Replaces the escapes of blanks, tabs, line ends and backslashes, such as `\040`.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, more @ ..] = rest {
        let code = more.get(..3).filter(|_| *first == b'\\');
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[3..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_optional_fields_and_escapes_is_read() {
        let line = br"36 35 98:0 /sub\040folder /mnt/a\134b rw,noatime master:1 shared:2 - ext4 /dev/root rw";
        let expected = MountPoint {
            device: "98:0".to_owned(),
            root: "/sub folder".into(),
            path: r"/mnt/a\b".into(),
            kind: "ext4".to_owned(),
        };
        assert_eq!(parse(line), Some(expected));
        assert_eq!(parse(b"36 35 98:0 /"), None);
    }

    #[test]
    fn this_machine_has_a_root_and_a_proc() {
        let table = mount_table().expect("a table");
        assert!(table.iter().any(|at| at.path.parent().is_none()), "{table:?}");
        assert!(table.iter().any(|at| at.kind == "proc"), "{table:?}");
    }
}
