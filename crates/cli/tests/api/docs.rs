//! The OpenAPI document, the pages, and the files that the pages load.

use crate::support::{Simulator, json, pretty, start};
use chicane_testkit::http::HttpResponse;
use serde_json::Value;

fn page(simulator: &Simulator, path: &str) -> HttpResponse {
    let answer = simulator.client().get(path);
    assert_eq!(answer.status, 200, "{path}");
    assert!(answer.header("content-type").is_some_and(|t| t.starts_with("text/html")), "{path}");
    answer
}

#[test]
fn the_openapi_document() {
    let simulator = start();
    let answer = simulator.client().get("/sim/api/openapi.json");
    assert_eq!(answer.status, 200);
    let document = json(&answer);
    assert!(document["openapi"].as_str().is_some_and(|v| v.starts_with('3')));
    insta::assert_snapshot!(pretty(&document));
    let printed: Value = serde_json::from_str(&chicane_server::openapi()).expect("JSON");
    assert_eq!(printed, document);
}

#[test]
fn the_document_has_every_path_of_the_specification() {
    let document: Value = serde_json::from_str(&chicane_server::openapi()).expect("JSON");
    for (path, methods) in [
        ("status", "get"),
        ("clock", "get post"),
        ("step", "post"),
        ("pose", "get post"),
        ("respawn", "post"),
        ("reset", "post"),
        ("vehicle", "get"),
        ("world", "get"),
        ("route", "get"),
        ("bounds", "get"),
        ("scene", "get"),
        ("objects", "get"),
        ("models/{name}/pose", "post"),
        ("traffic_lights", "get"),
        ("traffic_lights/{name}", "post"),
        ("brightness", "get post"),
        ("overlay", "get post"),
        ("state", "get"),
        ("events", "get"),
        ("evaluation", "get"),
        ("evaluation/start", "post"),
        ("evaluation/stop", "post"),
        ("evaluation/session", "get"),
        ("evaluation/record", "get"),
        ("evaluation/records", "get"),
        ("worlds", "get"),
        ("switch", "post"),
        ("worldpub", "get"),
        ("worlds/install", "post"),
        ("worlds/{name}", "delete"),
        ("worlds/{name}/waypoints.npy", "get"),
        ("worlds/{name}/print.jpg", "get"),
    ] {
        for method in methods.split(' ') {
            let operation = &document["paths"][format!("/sim/api/{path}")][method];
            assert!(operation["responses"].is_object(), "{method} {path}");
            for status in ["400", "403", "413"] {
                let error = &operation["responses"][status]["content"]["application/json"]["schema"]["$ref"];
                assert_eq!(error, "#/components/schemas/ErrorBody", "{method} {path} {status}");
            }
        }
    }
}

#[test]
fn pages_have_a_content_security_policy() {
    let simulator = start();
    for path in ["/sim", "/sim/", "/sim/api/docs"] {
        let answer = page(&simulator, path);
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{path}: no policy"));
        assert!(
            policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("script-src") || !policy.contains("unsafe-eval"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    assert_eq!(page(&simulator, "/sim").body, page(&simulator, "/sim/").body);
}

/// Addresses of all files that a page loads.
fn loaded(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in ["src=\"", "href=\""] {
        let values = html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
        found.extend(values.map(str::to_owned));
    }
    found
}

#[test]
fn each_documentation_page_has_its_title_and_links_to_the_other() {
    let simulator = start();
    for (base, title, other) in
        [("/sim/api", "Chicane API", "(/docs)"), ("", "Chicane robot API", "(/sim/api/docs)")]
    {
        let html = page(&simulator, &format!("{base}/docs")).text();
        assert!(html.contains(&format!("<title>{title}</title>")), "{html}");
        let about =
            json(&simulator.client().get(&format!("{base}/openapi.json")))["info"]["description"].to_string();
        assert!(about.contains(other), "{about}");
    }
}

#[test]
fn pages_load_nothing_from_other_hosts() {
    let simulator = start();
    let mut client = simulator.client();
    for path in ["/sim", "/sim/api/docs"] {
        let html = page(&simulator, path).text();
        // The name of an XML namespace looks like an address, but is not loaded.
        let rest = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains("http://") && !rest.contains("https://"), "{path} names another host");
        let addresses = loaded(&html);
        assert!(addresses.len() >= 3, "{path}: {addresses:?}");
        for address in addresses.iter().filter(|a| !a.starts_with("data:") && !a.starts_with('#')) {
            assert!(address.starts_with('/') && !address.starts_with("//"), "{path} loads {address}");
            let answer = client.get(address);
            assert_eq!(answer.status, 200, "{address}");
            let kind = answer.header("content-type").unwrap_or("");
            let expected = match address.rsplit_once('.').map(|(_, ending)| ending) {
                Some("js") => "javascript",
                Some("css") => "text/css",
                Some("svg") => "image/svg+xml",
                _ => "text/html",
            };
            assert!(kind.contains(expected), "{address} is {kind}");
            assert!(!answer.body.is_empty(), "{address} is empty");
        }
        assert!(!html.contains("<script>"), "{path}: the policy blocks inline scripts");
    }
}

#[test]
fn the_root_redirects_to_the_viewer() {
    let simulator = start();
    let answer = simulator.client().get("/");
    assert!((300..400).contains(&answer.status), "{}", answer.status);
    assert_eq!(answer.header("location"), Some("/sim"));
}
