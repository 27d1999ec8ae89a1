//! Checks `spec.conversion`: the strategy, and the webhook that the strategy `Webhook` needs.

use crate::go::base64::{self, Base64Alphabet};
use crate::go::strfmt::name;
use crate::go::url::Url;
use crate::input::yaml::Node;
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};

use super::server_checks::ServerChecks;

const CLIENT: &str = "spec.conversion.webhookClientConfig";
const REVIEWS: &str = "spec.conversion.conversionReviewVersions";

pub(super) fn check(collector: &mut FactCollector<'_>, checks: &ServerChecks) {
    let Some(entry) = collector.crd.spec.entry("conversion").filter(|entry| !entry.value.is_null()) else { return };
    let (key, stanza) = (entry.key, entry.value);
    let strategy = stanza.get("strategy");
    let at = strategy.unwrap_or(key);
    let what = |effect| (Subject::Crd, Aspect::ConversionStrategy, effect);
    let name = strategy.and_then(Node::as_str).unwrap_or_default();
    match name {
        "None" | "Webhook" => {}
        "" => {
            collector.refuse(what(Effect::Missing), at, "spec.conversion.strategy", "Required value");
        }
        other => {
            let reason = "supported values: \"None\", \"Webhook\"";
            let fact = collector.refuse(what(Effect::Invalid), at, "spec.conversion.strategy", reason);
            fact.words.insert(Word::Name, other.to_owned());
        }
    }
    if name != "None" && collector.crd.spec.get("preserveUnknownFields").and_then(Node::as_bool) == Some(true) {
        let reason = "must be None if spec.preserveUnknownFields is true";
        collector.refuse(what(Effect::Forbidden), at, "spec.conversion.strategy", reason);
    }
    let webhook = stanza.get("webhook");
    let reviews = webhook.and_then(|webhook| webhook.entry("conversionReviewVersions")).filter(|entry| !entry.value.is_null());
    let client = webhook.and_then(|webhook| webhook.entry("clientConfig")).filter(|entry| !entry.value.is_null());
    if name != "Webhook" {
        let reason = "should not be set when strategy is not set to Webhook";
        if let Some(client) = client {
            collector.refuse((Subject::Crd, Aspect::ConversionWebhook, Effect::Forbidden), client.key, CLIENT, reason);
        }
        if let Some(reviews) = reviews.filter(|entry| !entry.value.is_empty()) {
            collector.refuse((Subject::Crd, Aspect::ReviewVersions, Effect::Forbidden), reviews.key, REVIEWS, reason);
        }
        return;
    }
    let anchor = stanza.entry("webhook").map_or(at, |entry| entry.key);
    match client {
        None => {
            let reason = "required when strategy is set to Webhook";
            collector.refuse((Subject::Crd, Aspect::ConversionWebhook, Effect::Missing), anchor, CLIENT, reason);
        }
        Some(entry) => target(collector, entry.key, entry.value, checks),
    }
    review_versions(collector, reviews.map(|entry| (entry.key, entry.value)), anchor, checks);
}

fn part<'t>(collector: &mut FactCollector<'t>, node: Node<'t>, name: &'static str, reason: &str) {
    let what = (Subject::Crd, Aspect::ConversionWebhook, Effect::Invalid);
    let fact = collector.refuse(what, node, format!("{CLIENT}.{name}"), reason);
    fact.key = Some(name.to_owned());
    fact.words.insert(Word::Part, name.to_owned());
}

fn target<'t>(collector: &mut FactCollector<'t>, key: Node<'t>, client: Node<'t>, checks: &ServerChecks) {
    let (url, service) = (client.get("url"), client.get("service"));
    match (url, service) {
        (Some(url), None) => address(collector, url),
        (None, Some(service)) => service_reference(collector, client, service),
        _ => {
            let reason = "exactly one of url or service is required";
            collector.refuse((Subject::Crd, Aspect::ConversionWebhook, Effect::Mismatched), key, CLIENT, reason);
        }
    }
    if checks.ca_bundle
        && let Some(bundle) = client.get("caBundle").filter(|node| node.as_str() != Some(""))
        && !holds_certificate(bundle)
    {
        part(collector, bundle, "caBundle", "unable to load root certificates: unable to parse bytes as PEM block");
    }
}

fn address<'t>(collector: &mut FactCollector<'t>, node: Node<'t>) {
    let text = node.as_str().unwrap_or_default();
    let faults = match Url::parse(text) {
        Err(fault) => vec![format!("url must be a valid URL: {fault}; desired format: https://host[/path]")],
        Ok(url) => [
            (url.scheme != "https").then_some("'https' is the only allowed URL scheme; desired format: https://host[/path]"),
            url.host.is_empty().then_some("host must be specified; desired format: https://host[/path]"),
            url.user.is_some().then_some("user information is not permitted in the URL"),
            (!url.fragment.is_empty()).then_some("fragments are not permitted in the URL"),
            (!url.raw_query.is_empty()).then_some("query parameters are not permitted in the URL"),
        ]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect(),
    };
    if !faults.is_empty() {
        part(collector, node, "url", &faults.join("; "));
    }
}

fn service_reference<'t>(collector: &mut FactCollector<'t>, client: Node<'t>, service: Node<'t>) {
    let key = client.entry("service").map_or(service, |entry| entry.key);
    // The server swaps the two: it reports `name` if the namespace is missing.
    for (mine, theirs) in [("name", "service.namespace"), ("namespace", "service.name")] {
        if service.text(mine).unwrap_or_default().is_empty() {
            let reason = format!("the service's {mine} is required");
            part(collector, service.entry(mine).map_or(key, |entry| entry.key), theirs, &reason);
        }
    }
    if let Some(port) = service.get("port")
        && !port.as_int().is_some_and(|port| (1..=65535).contains(&port))
    {
        part(collector, port, "service.port", "port is not valid: must be between 1 and 65535, inclusive");
    }
    if let Some(path) = service.get("path")
        && let Some(fault) = path.as_str().and_then(path_fault)
    {
        part(collector, path, "service.path", &fault);
    }
}

fn path_fault(path: &str) -> Option<String> {
    if path.is_empty() || path == "/" {
        return None;
    }
    if path == "//" {
        return Some("segment[0] may not be empty".into());
    }
    if !path.starts_with('/') {
        return Some("must start with a '/'".into());
    }
    let inner = path.get(1..).unwrap_or_default();
    inner.strip_suffix('/').unwrap_or(inner).split('/').enumerate().find_map(|(index, segment)| {
        if segment.is_empty() {
            return Some(format!("segment[{index}] may not be empty"));
        }
        name::subdomain(segment).map(|fault| format!("segment[{index}]: {fault}"))
    })
}

fn review_versions<'t>(collector: &mut FactCollector<'t>, list: Option<(Node<'t>, Node<'t>)>, anchor: Node<'t>, checks: &ServerChecks) {
    let what = |effect| (Subject::Crd, Aspect::ReviewVersions, effect);
    let Some((key, list)) = list.filter(|(_, list)| !list.is_empty()) else {
        collector.refuse(what(Effect::Missing), list.map_or(anchor, |(key, _)| key), REVIEWS, "Required value");
        return;
    };
    let mut seen: Vec<&str> = Vec::new();
    for (index, item) in list.items().enumerate() {
        let text = item.as_str().unwrap_or_default();
        let (effect, reason) = if seen.contains(&text) {
            (Effect::Duplicate, "duplicate version".to_owned())
        } else if let Some(fault) = name::letter_label(text) {
            (Effect::Invalid, fault)
        } else {
            seen.push(text);
            continue;
        };
        seen.push(text);
        let fact = collector.refuse(what(effect), item, format!("{REVIEWS}[{index}]"), reason);
        fact.key = Some(index.to_string());
        fact.words.insert(Word::Name, text.to_owned());
    }
    if checks.review_version && !knows_review(seen.iter().copied()) {
        collector.refuse(what(Effect::Unknown), key, REVIEWS, "must include at least one of v1, v1beta1");
    }
}

/// Whether a list of review versions contains one that servers support.
pub(super) fn knows_review<'a>(mut list: impl Iterator<Item = &'a str>) -> bool {
    list.any(|version| matches!(version, "v1" | "v1beta1"))
}

/// Whether a base64 string contains at least one PEM certificate, as a TLS client needs.
pub(super) fn holds_certificate(node: Node<'_>) -> bool {
    let Some(bytes) = node.as_str().and_then(|text| base64::decode(text, Base64Alphabet::Standard)) else { return false };
    let Ok(text) = String::from_utf8(bytes) else { return false };
    let mut rest = text.as_str();
    while let Some((_, tail)) = rest.split_once("-----BEGIN CERTIFICATE-----") {
        if let Some((body, after)) = tail.split_once("-----END CERTIFICATE-----") {
            // A certificate is a DER sequence; we don't check more than that.
            let body = body.replace([' ', '\t'], "");
            if base64::decode(&body, Base64Alphabet::Standard).is_some_and(|der| der.first() == Some(&0x30) && der.len() > 100) {
                return true;
            }
            rest = after;
        } else {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_paths() {
        for good in ["", "/", "/convert", "/a/b/", "/a.b"] {
            assert_eq!(path_fault(good), None, "{good}");
        }
        for bad in ["//", "convert", "/a//b", "/A", "/a_b"] {
            assert!(path_fault(bad).is_some(), "{bad}");
        }
    }
}
