//! An S3 bucket for tests. The bucket is on a server of moto, a Python program that implements the
//! S3 API. `make` installs moto with the other tools.

use crate::program::{TempFolder, command};
use chicane_store::{Manifest, Meta, Sum};
use chicane_testkit::http::Client;
use chicane_wire::WorldId;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Timeout for the start of the server. The server is a Python program and starts slowly on a busy
/// machine.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Access key and secret. The server accepts them as long as it does not check signatures.
const ANYBODY: (&str, &str) = ("AKIDEXAMPLE", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY");

/// Requests that create the bucket and make its files publicly readable.
const BUCKET: [(&str, &str); 2] = [
    ("/worlds", ""),
    (
        "/worlds?policy",
        "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Principal\": \"*\", \
          \"Action\": [\"s3:GetObject\"], \"Resource\": [\"arn:aws:s3:::worlds/*\"]}]}",
    ),
];

/// A running moto server. Its bucket is `worlds`, and the files in the bucket are publicly
/// readable.
pub(crate) struct Moto {
    child: Child,
    pub(crate) address: SocketAddr,
    secure: bool,
    pub(crate) key: String,
    pub(crate) secret: String,
}

/// Path of a program in the Python environment of the tools.
pub(crate) fn tool(name: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/python/bin");
    let server = std::env::var_os("MOTO_SERVER").map_or(beside.join("moto_server"), PathBuf::from);
    let path = server.with_file_name(name);
    assert!(path.is_file(), "{} is missing: `make need-moto` installs it", path.display());
    path
}

impl Moto {
    pub(crate) fn start() -> Moto {
        let moto = Moto::run(&[], false);
        for (path, body) in BUCKET {
            let answer =
                moto.client().request("PUT", path, &[("content-type", "text/plain")], body.as_bytes());
            assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.text());
        }
        moto
    }

    /// Creates the bucket on a server with TLS.
    pub(crate) fn create_bucket_with_tls(&self, certificate: &str) {
        const PUT: &str = "import ssl, sys, urllib.request as web\n\
            trust = ssl.create_default_context(cafile=sys.argv[1])\n\
            plain = {'content-type': 'text/plain'}\n\
            web.urlopen(web.Request(sys.argv[2], sys.argv[3].encode(), plain, method='PUT'), context=trust)";
        for (path, body) in BUCKET {
            let address = format!("{}{path}", self.endpoint());
            let done = Command::new(tool("python")).args(["-c", PUT, certificate, &address, body]).status();
            assert!(done.is_ok_and(|status| status.success()), "{path}");
        }
    }

    /// Starts a server with TLS and without a bucket. Writes the certificate of the server to
    /// `folder`. Returns the server and the path of the certificate.
    pub(crate) fn start_secure(folder: &TempFolder) -> (Moto, String) {
        let (certificate, key) =
            (format!("{}/cert.pem", folder.path()), format!("{}/key.pem", folder.path()));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/publishing/certificate.py");
        let made = Command::new(tool("python")).arg(script).args([&certificate, &key]).status();
        assert!(made.is_ok_and(|status| status.success()), "a certificate");
        let moto = Moto::run(&["-c", &certificate, "-k", &key], true);
        (moto, certificate)
    }

    fn run(arguments: &[&str], secure: bool) -> Moto {
        let mut command = Command::new(tool("moto_server"));
        command.args(["-H", "127.0.0.1", "-p", "0"]).args(arguments);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut log = BufReader::new(child.stderr.take().expect("its log"));
        let (send, found) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            while log.read_line(&mut line).is_ok_and(|n| n > 0) {
                if let Some((_, address)) = line.split_once("://") {
                    let _ = send.send(address.trim().parse());
                    break;
                }
                line.clear();
            }
            // The rest of the log is read, because a full pipe would block the server.
            let _ = log.read_to_end(&mut Vec::new());
        });
        let found = found.recv_timeout(START_TIMEOUT);
        let Ok(Ok(address)) = found else {
            let _ = child.kill();
            panic!("moto does not start: {found:?}");
        };
        let (key, secret) = (ANYBODY.0.to_owned(), ANYBODY.1.to_owned());
        Moto { child, address, secure, key, secret }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// URL of the bucket for simulators. Simulators read the files without credentials.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/worlds", self.address)
    }

    /// URL of the S3 endpoint for publishers.
    pub(crate) fn endpoint(&self) -> String {
        if self.secure {
            format!("https://localhost:{}", self.address.port())
        } else {
            format!("http://{}", self.address)
        }
    }

    /// Creates a user with a policy that allows `actions`, and enables the checking of signatures.
    /// Later commands use the key of this user.
    pub(crate) fn lock(&mut self, user: &str, actions: &str) {
        let ask = |action: &str, more: &str| {
            let who = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, \
                       Signature=x";
            let headers = [("content-type", "application/x-www-form-urlencoded"), ("authorization", who)];
            let body = format!("Action={action}&Version=2010-05-08&UserName={user}{more}");
            let answer = self.client().request("POST", "/", &headers, body.as_bytes());
            assert_eq!(answer.status, 200, "{action}: {}", answer.text());
            answer.text()
        };
        ask("CreateUser", "");
        let made = ask("CreateAccessKey", "");
        let policy = format!(
            "{{\"Version\": \"2012-10-17\", \"Statement\": [{{\"Effect\": \"Allow\", \"Action\": [{actions}], \
             \"Resource\": \"*\"}}]}}"
        );
        let policy: String = policy.bytes().map(|b| format!("%{b:02X}")).collect();
        ask("PutUserPolicy", &format!("&PolicyName=own&PolicyDocument={policy}"));
        let part = |name: &str| {
            let (_, rest) = made.split_once(&format!("<{name}>")).expect("a key");
            rest.split('<').next().unwrap_or_default().to_owned()
        };
        (self.key, self.secret) = (part("AccessKeyId"), part("SecretAccessKey"));
        self.check_signatures(true);
    }

    /// Enables or disables the checking of signatures. While it is enabled, moto refuses unsigned
    /// requests, whatever the bucket's policy says.
    pub(crate) fn check_signatures(&self, on: bool) {
        let free = if on { "0" } else { "inf" };
        let headers = [("content-type", "text/plain")];
        let answer = self.client().request("POST", "/moto-api/reset-auth", &headers, free.as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// A command that runs the program with the credentials of this server. The `AWS_` variables of
    /// the environment are removed.
    pub(crate) fn command(&self, arguments: &[&str], more: &[(&str, &str)]) -> Command {
        let mut command = command(arguments, &[]);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
            command.env_remove(name);
        }
        command.env("AWS_ENDPOINT", self.endpoint());
        command.env("AWS_ACCESS_KEY_ID", &self.key).env("AWS_SECRET_ACCESS_KEY", &self.secret);
        command.envs(more.iter().copied());
        command
    }

    /// Runs the program and returns its standard output. The program must succeed.
    pub(crate) fn output_of(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments, &[]).output().expect("started");
        output_of(arguments, &output)
    }

    /// All worlds that have a `meta.json`. Each file of these worlds must have the right hash.
    pub(crate) fn worlds(&self) -> Vec<(WorldId, Meta)> {
        let keys = self.keys();
        let described = keys.iter().filter_map(|key| key.strip_suffix("/meta.json"));
        described.map(|world| self.world(world)).collect()
    }

    fn world(&self, world: &str) -> (WorldId, Meta) {
        let mut client = self.client();
        let mut read = |path: &str| {
            let answer = client.get(&format!("/worlds/{world}/{path}"));
            assert_eq!(answer.status, 200, "{world}/{path}: {}", answer.text());
            answer.body
        };
        let id = WorldId::parse(world.rsplit('/').next().expect("a name")).expect("an id");
        let meta = Meta::read(&id, &read("meta.json")).expect("a description");
        let rev = meta.rev.as_str();
        let manifest =
            Manifest::read(&id, &meta.rev, &read(&format!("{rev}/manifest.json"))).expect("a manifest");
        assert_eq!(manifest.files.len(), meta.files.len());
        for file in &manifest.files {
            assert_eq!(Sum::of(&read(&format!("{rev}/{}", file.path))), file.sum, "{}", file.path);
        }
        (id, meta)
    }

    /// All keys of the bucket.
    pub(crate) fn keys(&self) -> Vec<String> {
        let (mut keys, mut more) = (Vec::new(), String::new());
        loop {
            let answer = self.client().get(&format!("/worlds?list-type=2{more}"));
            assert_eq!(answer.status, 200, "{}", answer.text());
            let text = answer.text();
            let all = |name: &str| -> Vec<String> {
                let opening = format!("<{name}>");
                let parts = text.split(&opening).skip(1);
                parts.map(|part| part.split('<').next().unwrap_or_default().to_owned()).collect()
            };
            keys.extend(all("Key"));
            match all("NextContinuationToken").pop() {
                Some(token) => more = format!("&continuation-token={token}"),
                None => return keys,
            }
        }
    }
}

/// Returns the standard output of a program. The program must have succeeded.
pub(crate) fn output_of(arguments: &[&str], output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
