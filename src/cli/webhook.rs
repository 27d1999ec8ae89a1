//! `conversions check --webhook`: sends ConversionReviews to a webhook named by the user, over plain HTTP on loopback or to a
//! command.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::find::conversion::webhook_laws;
use crate::input::program;
use crate::render::visible;

use super::input::InputReader;
use super::{Exit, Stop, Streams, default_inputs};

const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest response that is read.
const MAX_RESPONSE: u64 = 64 << 20;

/// How to reach the webhook.
enum Webhook {
    Http {
        address: std::net::SocketAddr,
        host: String,
        path: String,
    },
    /// A shell command, which may only come from the command line.
    Command(String),
}

pub(super) fn check(webhook: &str, inputs: &[OsString], reader: &InputReader, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let webhook = Webhook::parse(webhook)?;
    let inputs = if inputs.is_empty() { default_inputs::crds() } else { inputs.to_vec() };
    let read = reader.one(&inputs, false)?;
    let side = read.side();
    let mut exit = read.problems(&side, streams)?;
    let mut checked = 0;
    for crd in side.bundle.crds.iter().filter(|crd| crd.versions.len() > 1) {
        checked += 1;
        let result = webhook_laws::check(crd, &|objects, version| webhook.convert(objects, version));
        let versions: Vec<&str> = crd.versions.iter().map(|version| version.name).collect();
        let verdict = if result.broken.is_empty() { "all laws hold" } else { "laws are broken" };
        let mut text = format!("{}: {} objects of {}: {verdict}\n", crd.name, result.objects, versions.join(", "));
        for law in &result.broken {
            text.push_str(&format!("  ✗ {} → {}: {}: {}\n    {}\n", law.from, law.to, law.law, law.because, law.object));
            exit = exit.or(Exit::Findings);
        }
        let shown: Vec<String> = text.lines().map(|line| format!("{}\n", visible(line))).collect();
        streams.write(&shown.concat())?;
    }
    if checked == 0 {
        streams.error(&format!("no CRD with several versions was found in {}", side.source));
        exit = exit.or(Exit::Unread);
    }
    Ok(exit)
}

impl Webhook {
    fn parse(text: &str) -> Result<Webhook, Stop> {
        if text.starts_with("https://") {
            return Err(Stop::usage("--webhook: TLS is not supported; use plain HTTP on loopback, or a command"));
        }
        let Some(rest) = text.strip_prefix("http://") else { return Ok(Webhook::Command(text.to_owned())) };
        let (host, path) = rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, path.to_owned()));
        let with_port = if host.rsplit(']').next().unwrap_or(host).contains(':') { host.to_owned() } else { format!("{host}:80") };
        let mut addresses = with_port.to_socket_addrs().map_err(|error| Stop::usage(format!("--webhook: {host}: {error}")))?;
        let address = addresses.find(|address| address.ip().is_loopback());
        let address = address.ok_or_else(|| Stop::usage(format!("--webhook: {host} is not a loopback address")))?;
        Ok(Webhook::Http { address, host: host.to_owned(), path: format!("/{path}") })
    }

    fn convert(&self, objects: &[Value], version: &str) -> Result<Vec<Value>, String> {
        const UID: &str = "705ab4f5-6393-11e8-b7cc-42010a800002";
        let review = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {"uid": UID, "desiredAPIVersion": version, "objects": objects},
        });
        let answer = match self {
            Webhook::Http { address, host, path } => post(address, host, path, &review.to_string()),
            Webhook::Command(command) => run(command, &review.to_string()),
        };
        let answer: Value = serde_json::from_str(&answer?).map_err(|error| format!("the answer is not JSON: {error}"))?;
        let response = answer.get("response").ok_or("the answer has no `response`")?;
        if response.get("uid").and_then(Value::as_str) != Some(UID) {
            return Err("`response.uid` is not the uid of the request".to_owned());
        }
        let status = response.pointer("/result/status").and_then(Value::as_str).unwrap_or_default();
        if status != "Success" {
            let message = response.pointer("/result/message").and_then(Value::as_str).unwrap_or_default();
            return Err(format!("`response.result.status` is `{status}`: {message}"));
        }
        let converted = response.get("convertedObjects").and_then(Value::as_array);
        converted.cloned().ok_or_else(|| "the answer has no `response.convertedObjects`".to_owned())
    }
}

/// Sends a request as HTTP/1.0, so that the response ends with the connection.
fn post(address: &std::net::SocketAddr, host: &str, path: &str, body: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = TcpStream::connect_timeout(address, TIMEOUT).map_err(failed)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
    stream.set_write_timeout(Some(TIMEOUT)).map_err(failed)?;
    let head = format!("POST {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).map_err(failed)?;
    let mut answer = Vec::new();
    stream.take(MAX_RESPONSE).read_to_end(&mut answer).map_err(failed)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| format!("{address}: not an HTTP answer"))?;
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    if status == "200" { Ok(body.to_owned()) } else { Err(format!("{address}: HTTP status {status}")) }
}

fn run(command: &str, input: &str) -> Result<String, String> {
    let answer = program::run(Command::new("sh").args(["-c", command]), input, TIMEOUT, MAX_RESPONSE);
    let answer = answer.map_err(|error| format!("`{command}`: {error}"))?;
    if answer.late {
        return Err(format!("`{command}` didn't answer within {} seconds", TIMEOUT.as_secs()));
    }
    if answer.out.len() as u64 > MAX_RESPONSE {
        return Err(format!("`{command}` answered with more than {} MiB", MAX_RESPONSE >> 20));
    }
    if answer.ok { Ok(String::from_utf8_lossy(&answer.out).into_owned()) } else { Err(format!("`{command}` failed: {}", answer.reason())) }
}
