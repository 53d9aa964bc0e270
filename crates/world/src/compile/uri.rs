//! Resolves URIs to paths inside a bundle. The simulator never downloads files.

use chicane_formats::percent::percent_decoded;

/// The type of file that a URI refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UriTarget {
    Model,
    /// A mesh or a picture.
    Asset,
}

/// The result of resolving a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UriResolution {
    /// Paths to try, in this order. The paths may contain `..` and are not normalised.
    Paths(Vec<String>),
    /// The URI is an HTTP address.
    Network,
    /// The URI has an unsupported scheme.
    Unsupported,
}

/// Resolves a URI. `folder` is the folder of the file that contains the URI.
pub(super) fn resolve_uri(uri: &str, folder: &str, target: UriTarget) -> UriResolution {
    let (mut paths, rest) = match uri.split_once("://") {
        Some(("model" | "package", rest)) => (vec![rest.to_owned()], rest),
        Some(("file", rest)) => (vec![join(folder, rest), rest.to_owned()], rest),
        Some(("http" | "https", _)) => return UriResolution::Network,
        Some(_) => return UriResolution::Unsupported,
        None => (vec![join(folder, uri), uri.to_owned()], uri),
    };
    if target == UriTarget::Asset {
        paths.push(join("meshes", rest));
    }
    paths.push(join("models", rest));
    // Some publishers put the name of their package before the path, as in `pkg/models/a`. The path
    // without this name is therefore tried too.
    let package = ["/models/", "/meshes/"].iter().filter_map(|f| rest.find(f)).min();
    paths.extend(package.map(|i| rest[i + 1..].to_owned()));
    // The paths with decoded percent escapes are tried last, because some exporters write a space
    // as `%20`.
    let decoded: Vec<String> = paths.iter().filter(|p| p.contains('%')).map(|p| percent_decoded(p)).collect();
    paths.extend(decoded);
    UriResolution::Paths(paths)
}

/// The folder of a path. The result is empty if the path has no folder.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The file name of a path without its extension.
pub(super) fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Joins a folder and a path. If the path starts with `/`, the result is the path alone.
pub(super) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_resolve_to_paths() {
        let paths = |uri, target| match resolve_uri(uri, "models/track", target) {
            UriResolution::Paths(p) => p.join(" "),
            other => format!("{other:?}"),
        };
        assert_eq!(paths("model://cone", UriTarget::Model), "cone models/cone");
        assert_eq!(
            paths("model://meshes/a/b.dae", UriTarget::Asset),
            "meshes/a/b.dae meshes/meshes/a/b.dae models/meshes/a/b.dae"
        );
        assert_eq!(paths("b.dae", UriTarget::Asset), "models/track/b.dae b.dae meshes/b.dae models/b.dae");
        assert_eq!(paths("model://a%20b", UriTarget::Model), "a%20b models/a%20b a b models/a b");
        assert_eq!(
            paths("model://pkg/models/a", UriTarget::Model),
            "pkg/models/a models/pkg/models/a models/a"
        );
        assert_eq!(paths("https://example.org/x", UriTarget::Model), "Network");
        assert_eq!(paths("fuel://x", UriTarget::Model), "Unsupported");
    }
}
