//! Where a URI may lead inside a bundle. Nothing ever leads to a network.

use crate::bundle::percent_decoded;

/// What a URI is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Model,
    /// A mesh or a picture.
    Asset,
}

/// What became of a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leads {
    /// Paths to try, best first. They may hold `..` and need normalising.
    Paths(Vec<String>),
    /// To a network.
    Network,
    /// To something only other programs know.
    Nowhere,
}

/// Works out the paths of a URI that was written in a file of this folder.
pub(super) fn leads(uri: &str, folder: &str, wanted: Wanted) -> Leads {
    let (mut paths, rest) = match uri.split_once("://") {
        Some(("model" | "package", rest)) => (vec![rest.to_owned()], rest),
        Some(("file", rest)) => (vec![join(folder, rest), rest.to_owned()], rest),
        Some(("http" | "https", _)) => return Leads::Network,
        Some(_) => return Leads::Nowhere,
        None => (vec![join(folder, uri), uri.to_owned()], uri),
    };
    if wanted == Wanted::Asset {
        paths.push(join("meshes", rest));
    }
    paths.push(join("models", rest));
    // Some publishers put the name of their package before the folders of a bundle.
    let package = ["/models/", "/meshes/"].iter().filter_map(|f| rest.find(f)).min();
    paths.extend(package.map(|i| rest[i + 1..].to_owned()));
    // Exporters differ on whether a space is written as it is.
    let decoded: Vec<String> = paths.iter().filter(|p| p.contains('%')).map(|p| percent_decoded(p)).collect();
    paths.extend(decoded);
    Leads::Paths(paths)
}

/// The folder of a path, empty at the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path without its extension.
pub(super) fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// A path below a folder.
pub(super) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_uris_lead() {
        let paths = |uri, wanted| match leads(uri, "models/track", wanted) {
            Leads::Paths(p) => p.join(" "),
            other => format!("{other:?}"),
        };
        assert_eq!(paths("model://cone", Wanted::Model), "cone models/cone");
        assert_eq!(
            paths("model://meshes/a/b.dae", Wanted::Asset),
            "meshes/a/b.dae meshes/meshes/a/b.dae models/meshes/a/b.dae"
        );
        assert_eq!(paths("b.dae", Wanted::Asset), "models/track/b.dae b.dae meshes/b.dae models/b.dae");
        assert_eq!(paths("model://a%20b", Wanted::Model), "a%20b models/a%20b a b models/a b");
        assert_eq!(paths("model://pkg/models/a", Wanted::Model), "pkg/models/a models/pkg/models/a models/a");
        assert_eq!(paths("https://example.org/x", Wanted::Model), "Network");
        assert_eq!(paths("fuel://x", Wanted::Model), "Nowhere");
    }
}
