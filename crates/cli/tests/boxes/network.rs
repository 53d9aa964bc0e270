//! What a program reaches over the network, in both kinds of box.

use crate::support::{TempFolder, evaluate, lines, output, record};
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// The address of this machine in its network, if it has one.
fn lan_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("198.51.100.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_loopback())
}

/// A program that tries to connect to addresses and prints the result of each attempt.
const CONNECT: &str = "\
import socket, sys
for target in sys.argv[1:]:
    host, _, port = target.rpartition(':')
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
        print(target, 'REACHED')
    except OSError as error:
        print(target, 'refused')
try:
    other = socket.socket(socket.AF_UNIX)
    other.connect('\\0chicane-box-test')
    print('abstract REACHED')
except OSError:
    print('abstract refused')
";

#[test]
fn a_program_reached_another_port_of_this_machine() {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let name = SocketAddr::from_abstract_name("chicane-box-test").expect("a name");
    let _abstract = UnixListener::bind_addr(&name).expect("an abstract socket");
    let workspace = TempFolder::new();
    workspace.file("connect.py", CONNECT);
    let lan = lan_address().map(|address| format!("{address}:{port}")).unwrap_or_default();
    let program = format!("python3 connect.py localhost:{port} 10.0.2.2:{port} {lan}");
    for options in [
        &["--box", "closed"][..],
        &["--box", "closed", "--student-network", "internet"],
        &["--box", "host", "--student-network", "none"],
        &["--box", "host", "--student-network", "internet"],
    ] {
        let mut command = evaluate(&workspace.0, &program);
        command.args(options);
        let found = output(&record(command));
        assert!(found.len() >= 3, "{options:?} {found:#?}");
        assert!(found.iter().all(|line| line.ends_with("refused")), "{options:?} {found:#?}");
    }
    let mut command = evaluate(&workspace.0, &program);
    command.args(["--box", "host", "--student-network", "host"]);
    let found = output(&record(command));
    assert!(found[0].ends_with("REACHED") && found.contains(&"abstract REACHED".to_owned()), "{found:#?}");
}

/// Sends requests to the simulator, at the port in `CHICANE_URL` and at port 80.
const REQUESTS: &str = "\
import json, os, urllib.error, urllib.request
def call(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {'Content-Type': 'application/json', 'Authorization': 'Bearer forged'}
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
base = os.environ['CHICANE_URL']
for root in (base, 'http://localhost', 'http://127.0.0.1', 'http://[::1]'):
    print(call('GET', root + '/sim/api/state')[1]['world'])
status, body = call('POST', base + '/sim/api/pose', {'x': 1, 'y': 1})
print(status, body['code'])
status, body = call('POST', 'http://localhost/sim/api/reset', {})
print(status, body['code'])
print(call('POST', base + '/sim/api/step', {'steps': 1})[0])
";

#[test]
fn a_request_of_a_program_was_not_recognized() {
    for kind in ["closed", "host"] {
        let workspace = TempFolder::new();
        workspace.file("requests.py", REQUESTS);
        let mut command = evaluate(&workspace.0, "python3 -I requests.py");
        command.args(["--box", kind, "--student-network", "none"]);
        let record = record(command);
        let expected = ["oval", "oval", "oval", "oval", "403 judged_run", "403 judged_run", "200"];
        assert_eq!(output(&record), expected, "{kind}: {record:#}");
        assert_eq!(record["refused"]["count"], 2, "{kind}: {}", record["refused"]);
        assert_eq!(record["refused"]["first"][0]["path"], "/sim/api/pose");
        assert_eq!(record["interference"]["count"], 0, "{kind}: {}", record["interference"]);
        assert_eq!((&record["box"], &record["network"]), (&kind.into(), &"none".into()));
        assert_eq!(record["program"]["files"], 1, "{kind}");
    }
}

#[test]
fn a_program_without_internet_resolved_a_name() {
    let program = "getent hosts example.com || echo unresolved; ls /sys/class/net 2>/dev/null; \
         tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /etc/resolv.conf | head -1";
    let found = lines(&["--student-network", "none"], program);
    assert_eq!(found, ["unresolved", "lo", "nameserver 127.0.0.1"]);
}

#[test]
fn a_program_with_internet_has_a_name_server_of_its_own() {
    let before = std::fs::read("/etc/resolv.conf").expect("the host's file");
    let program = "cat /etc/resolv.conf | head -1; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort";
    for kind in ["closed", "host"] {
        let found = lines(&["--box", kind, "--student-network", "internet"], program);
        assert_eq!(found, ["nameserver 10.0.2.3", "lo", "tap0"], "{kind}");
    }
    assert_eq!(std::fs::read("/etc/resolv.conf").expect("the host's file"), before);
}

#[test]
fn a_program_took_the_simulators_address() {
    let program = "python3 - <<'END'\n\
        import os, socket\n\
        port = int(os.environ['CHICANE_URL'].rpartition(':')[2])\n\
        for address in ('127.0.0.1', '0.0.0.0', '::1', '::'):\n\
        \x20   for number in (port, 80):\n\
        \x20       s = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET)\n\
        \x20       s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n\
        \x20       s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n\
        \x20       try:\n\
        \x20           s.bind((address, number))\n\
        \x20           s.listen()\n\
        \x20           print(address, number, 'TAKEN')\n\
        \x20       except OSError as error:\n\
        \x20           pass\n\
        print('tried')\nEND";
    assert_eq!(lines(&["--box", "host", "--student-network", "none"], program), ["tried"]);
    assert_eq!(lines(&[], program), ["tried"]);
}

/// Reads the state without a token, and with the token of the program.
const WITH_AND_WITHOUT_TOKEN: &str = "\
import os, urllib.error, urllib.request
for headers in ({}, {'Authorization': 'Bearer ' + os.environ['CHICANE_TOKEN']}):
    request = urllib.request.Request(os.environ['CHICANE_URL'] + '/sim/api/state', headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            print(answer.status)
    except urllib.error.HTTPError as error:
        print(error.code)
";

#[test]
fn another_user_of_the_machine_could_change_a_graded_run() {
    let workspace = TempFolder::new();
    workspace.file("token.py", WITH_AND_WITHOUT_TOKEN);
    // On the host's network, the program and other users of the machine reach the same port. So the
    // port must refuse requests without a token.
    let mut command = evaluate(&workspace.0, "python3 token.py");
    command.args(["--box", "host", "--student-network", "host"]);
    assert_eq!(output(&record(command)), ["401", "200"]);
}
