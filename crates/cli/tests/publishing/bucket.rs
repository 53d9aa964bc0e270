//! Tests of worlds in an S3 bucket: publication, installation, concurrent publishers, and error
//! messages.

use crate::get;
use crate::moto::{Moto, output_of};
use crate::program::{Program, TempFolder};
use crate::proxy;
use chicane_testkit::cdn::{Reply, WebServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Mutex;

const PROJECT: &str = "examples/projects/everything.json";
const TO: &str = "s3://worlds/class/7b";
const ALL: &str = "\"s3:GetObject\", \"s3:PutObject\", \"s3:ListBucket\"";

fn install(client: &mut chicane_testkit::http::Client, id: &str) -> Value {
    let answer = client.post("/sim/api/worlds/install", &json!({"world_id": id}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).expect("JSON")
}

#[test]
fn a_published_project_is_installed_from_a_bucket() {
    let mut moto = Moto::start();
    moto.lock("publisher", ALL);
    let id = moto.output_of(&["publish", PROJECT, "--to", TO, "--name", "Seven", "--access", "public"]);
    let again = moto.output_of(&["publish", PROJECT, "--to", &format!("{TO}/")]);
    assert!(id.len() == 32 && id != again, "two publications have the same id: {id} {again}");
    let listed = moto.output_of(&["worlds", "list", "--to", TO]);
    assert!(listed.contains(&id) && listed.contains(&again) && listed.contains("Seven"), "{listed}");
    moto.check_signatures(false);
    let (keys, cdn) = (moto.keys(), format!("{}/class/7b", moto.url()));
    assert!(keys.iter().all(|key| key.starts_with("class/7b/worlds/")), "{keys:?}");

    // The files have cache headers.
    let look = |path: &str| moto.client().get(&format!("/worlds/class/7b/worlds/{id}/{path}"));
    let meta = look("meta.json");
    let cache = |answer: &chicane_testkit::http::HttpResponse| {
        answer.header("cache-control").unwrap_or_default().to_owned()
    };
    assert_eq!(
        (cache(&meta).as_str(), meta.header("content-type")),
        ("public, max-age=5", Some("application/json"))
    );
    let meta: Value = serde_json::from_slice(&meta.body).expect("JSON");
    let manifest = look(&format!("{}/manifest.json", meta["rev"].as_str().expect("a rev")));
    assert!(cache(&manifest).contains("immutable"), "{}", cache(&manifest));

    let data = TempFolder::new("bucket-student");
    let student = Program::serve(&["--data-dir", data.path(), "--cdn", &cdn, "--require-verified"]);
    let mut client = student.client();
    for id in [&id, &again] {
        let installed = install(&mut client, id);
        assert_eq!(
            (&installed["verified"], &installed["cached"]),
            (&json!(true), &json!(false)),
            "{installed}"
        );
    }
    let answer = client.post("/sim/api/switch", &json!({"world_id": id}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(get(&mut client, "/worldpub")["world_id"], id);
    assert_eq!(get(&mut client, "/world")["display"], "Seven");
    assert!(!get(&mut client, "/traffic_lights")["lights"].as_array().expect("lights").is_empty());

    // A change of name or access neither adds nor removes files.
    moto.check_signatures(true);
    let renamed = moto.output_of(&["worlds", "rename", &id, "Seven and a half", "--to", TO]);
    assert_eq!(renamed, format!("{id} is Seven and a half"));
    assert_eq!(
        moto.output_of(&["worlds", "access", &id, "unlisted", "--to", TO]),
        format!("{id} is unlisted")
    );
    moto.check_signatures(false);
    assert_eq!(moto.keys(), keys);
    assert_eq!(install(&mut client, &id)["cached"], true);
    let listed = get(&mut client, "/worlds");
    let entry = listed["worlds"].as_array().expect("worlds").iter().find(|w| w["world_id"] == json!(id));
    assert_eq!(entry.expect("installed")["display"], "Seven and a half");
}

#[test]
fn concurrent_publishers_and_renames_succeed() {
    let moto = Moto::start();
    let first = moto.output_of(&["publish", PROJECT, "--to", "s3://worlds"]);
    let start = |arguments: &[&str]| {
        let mut command = moto.command(arguments, &[]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
    };
    let publish = ["publish", PROJECT, "--to", "s3://worlds"];
    let names: Vec<String> = (0..3).map(|k| format!("Name {k}")).collect();
    let publishers: Vec<_> = (0..3).map(|_| start(&publish)).collect();
    let changes: Vec<_> =
        names.iter().map(|name| start(&["worlds", "rename", &first, name, "--to", "s3://worlds"])).collect();
    let mut ids = vec![first.clone()];
    for child in publishers {
        ids.push(output_of(&publish, &child.wait_with_output().expect("ended")));
    }
    for child in changes {
        output_of(&["rename"], &child.wait_with_output().expect("ended"));
    }
    let worlds = moto.worlds();
    let mut published: Vec<String> = worlds.iter().map(|(id, _)| id.to_string()).collect();
    published.sort();
    ids.sort();
    assert_eq!(published, ids);
    let (_, meta) = worlds.iter().find(|(id, _)| *id.as_str() == *first).expect("there");
    assert!(names.contains(&meta.name) && meta.seq > 1, "{meta:?}");
}

#[test]
fn a_bucket_with_tls_requires_a_trusted_certificate() {
    let folder = TempFolder::new("bucket-tls");
    let (moto, certificate) = Moto::start_secure(&folder);
    let trust = [("SSL_CERT_FILE", certificate.as_str())];
    let publish = ["publish", PROJECT, "--to", "s3://worlds"];
    // The program must not send a request to a server whose certificate it does not trust.
    let nobody = format!("{}/key.pem", folder.path());
    for trust in [vec![], vec![("SSL_CERT_FILE", nobody.as_str())]] {
        let output = moto.command(&publish, &trust).output().expect("started");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = text.lines().last().unwrap_or_default();
        let clear =
            last.contains("no secure connection to localhost") || last.contains("has no root certificates");
        assert!(!output.status.success() && clear, "{text}");
    }
    // If the program trusts the certificate, the connection works. The server then reports that the
    // bucket does not exist.
    let output = moto.command(&publish, &trust).output().expect("started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("there is no such bucket"), "{text}");
    moto.create_bucket_with_tls(&certificate);
    let id = output_of(&publish, &moto.command(&publish, &trust).output().expect("started"));
    // An installation trusts the same certificate.
    let data = TempFolder::new("bucket-tls-data");
    let cdn = format!("{}/worlds", moto.endpoint());
    let arguments =
        ["worlds", "--data-dir", data.path(), "install", &id, "--cdn", &cdn, "--require-verified"];
    let installed = output_of(&arguments, &moto.command(&arguments, &trust).output().expect("started"));
    assert_eq!(installed, format!("custom_{id}.world"));
}

/// Starts a proxy that forwards all requests, but drops the first response to every write. Returns
/// the URL of the proxy.
fn lossy_proxy(to: SocketAddr) -> String {
    let lost = Mutex::new(BTreeSet::new());
    proxy::open_proxy(to, move |asked| {
        let answer = asked.forward()?;
        let is_first = || lost.lock().expect("a set").insert((asked.line.clone(), asked.body.clone()));
        (!asked.line.starts_with("PUT ") || !is_first()).then_some(answer)
    })
}

#[test]
fn a_write_whose_response_was_lost_is_retried() {
    let moto = Moto::start();
    let proxy = lossy_proxy(moto.address);
    let lossy = [("AWS_ENDPOINT", proxy.as_str())];
    let run = |arguments: &[&str]| {
        output_of(arguments, &moto.command(arguments, &lossy).output().expect("started"))
    };
    // The publisher repeats every write. The server reports that the file exists, and the publisher
    // finds that the file has the right content.
    let id = run(&["publish", "examples/projects/loop.json", "--to", "s3://worlds"]);
    let worlds = moto.worlds();
    assert_eq!(worlds.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>(), [id.as_str()]);
    assert_eq!(run(&["worlds", "rename", &id, "Once", "--to", "s3://worlds"]), format!("{id} is Once"));
    let (_, meta) = moto.worlds().remove(0);
    assert_eq!((meta.name.as_str(), meta.seq), ("Once", 2), "the name was changed more than once");
}

/// Runs a command that must fail, and returns the last line of its standard error. The output must
/// not contain a secret.
fn refused(moto: &Moto, arguments: &[&str], more: &[(&str, &str)]) -> String {
    let output = moto.command(arguments, more).output().expect("started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}: {text}");
    let secrets = [moto.secret.as_str(), "sesame"];
    assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("chicane: "), "{text}");
    last.to_owned()
}

#[test]
fn invalid_targets_and_credentials_are_reported() {
    let mut moto = Moto::start();
    let nobody = "f".repeat(32);
    let rename = |to: &'static str| ["worlds", "rename", "ffffffffffffffffffffffffffffffff", "x", "--to", to];
    assert!(
        refused(&moto, &rename("s3://worlds"), &[]).contains(&format!("world {nobody} is not published in "))
    );
    assert!(
        refused(&moto, &["publish", PROJECT, "--to", "s3://elsewhere"], &[])
            .contains("there is no such bucket")
    );
    for (to, more, word) in [
        ("s3://", &[][..], "names no bucket"),
        ("s3://key:sesame@worlds", &[], "must not contain a user or a password"),
        ("gopher://worlds", &[], "only s3://BUCKET/FOLDER"),
        ("http://127.0.0.1:9000/worlds", &[], "AWS_ENDPOINT"),
        ("https://key:sesame@minio.example.org/worlds", &[], "can't be published to"),
        ("s3://worlds", &[("AWS_SECRET_ACCESS_KEY", "")], "AWS_SECRET_ACCESS_KEY is not"),
        ("s3://worlds", &[("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")], "needs credentials"),
        ("s3://worlds", &[("AWS_ENDPOINT", "")], "AWS_REGION is not set"),
        ("s3://worlds", &[("AWS_ENDPOINT", "http://minio.example.org:9000")], "is not encrypted"),
        ("s3://worlds", &[("AWS_ENDPOINT", "https://key:sesame@minio.example.org")], "AWS_ENDPOINT must be"),
        (
            "s3://worlds",
            &[("AWS_ENDPOINT", "https://no-such-host.invalid")],
            "host no-such-host.invalid not found",
        ),
        ("s3://worlds", &[("AWS_ENDPOINT", "http://127.0.0.1:1")], "127.0.0.1 can't be reached"),
    ] {
        let text = refused(&moto, &rename(to), more);
        assert!(text.contains(word), "{to} {more:?}: {text}");
    }
    // Each of these access keys is unknown, has a wrong secret, or lacks a permission.
    moto.lock("reader", "\"s3:GetObject\"");
    for (more, word) in [
        (&[][..], "access is denied: the access key needs s3:GetObject and s3:PutObject"),
        (&[("AWS_ACCESS_KEY_ID", "AKIDNOBODY")], "AWS_ACCESS_KEY_ID is not known to the server"),
        (&[("AWS_SECRET_ACCESS_KEY", "sesame")], "AWS_SECRET_ACCESS_KEY does not belong"),
        (&[("AWS_SESSION_TOKEN", "sesame"), ("AWS_ACCESS_KEY_ID", "ASIANOBODY")], "AWS_"),
    ] {
        let text = refused(&moto, &["publish", PROJECT, "--to", "s3://worlds"], more);
        assert!(text.contains(word) && text.contains("can't write worlds/"), "{text}");
    }
}

#[test]
fn responses_that_are_not_from_a_bucket_are_reported() {
    let moto = Moto::start();
    let rename = ["worlds", "rename", "ffffffffffffffffffffffffffffffff", "x", "--to", "s3://worlds"];
    let odd = |reply: Reply, tries: usize, word: &str| {
        let server = WebServer::start(move |_| reply.clone());
        let text = refused(&moto, &rename, &[("AWS_ENDPOINT", &server.url())]);
        assert!(text.contains(word), "{word}: {text}");
        assert_eq!(server.asked().len(), tries, "{word}");
    };
    let echo = "HTTP/1.1 403 No\r\ncontent-length: 57\r\n\r\n<Error><Code>Odd</Code><Message>sesame</Message></Error>\r\n";
    odd(Reply::Raw(echo.as_bytes().to_vec()), 1, "access is denied");
    odd(Reply::Status(500), 4, "responded with status 500 (tried 4 times)");
    odd(Reply::Status(418), 1, "responded with status 418");
    odd(Reply::Redirect("https://sesame.example/".to_owned()), 1, "AWS_REGION");
    odd(Reply::Endless, 1, "is too large");
    odd(Reply::Raw(b"SSH-2.0-OpenSSH\r\n".to_vec()), 4, "no response from");
    odd(
        Reply::File(b"<html>Welcome</html>".to_vec()),
        1,
        "worlds/ffffffffffffffffffffffffffffffff/meta.json",
    );
}
