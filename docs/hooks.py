"""Pages that are generated, so that nothing is written twice: rules, policies, the JSON report and the configuration."""

import functools
import json
import pathlib
import re
import tomllib

import yaml
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]
FAMILIES = {
    "change": "Changes between two bundles. The policy decides their severity and the next version.",
    "server": "What an API server rejects, or will reject.",
    "hazard": "What a server accepts but users regret.",
    "guideline": "What the guidelines of Kubernetes projects ask for.",
    "convention": "Kubernetes' API conventions.",
    "conversion": "Conversion manifests, and changes that need one.",
}
# As `crdwise schema NAME` prints them; editors load them from the site.
SCHEMAS = {
    "report": "src/judge/report.schema.json",
    "config": "src/cli/config/config.schema.json",
    "rule": "src/judge/rule/rule.schema.json",
    "policy": "src/judge/policy.schema.json",
    "baseline": "src/judge/baseline.schema.json",
    "conversion": "src/find/conversion/manifest.schema.json",
    "suite": "src/judge/suite/suite.schema.json",
}


def on_config(config):
    config["site_url"] = PACKAGE["homepage"] + "/"
    config["repo_url"], config["repo_name"] = PACKAGE["repository"], PACKAGE["name"]
    return config


def on_files(files, config):
    rules = [read(file) for folder in ("change", "conversion", "lint") for file in sorted((ROOT / "rules" / folder).glob("*.md"))]
    policies = [read(file) for file in sorted((ROOT / "rules/policy").glob("*.md"))]
    known = {head["id"] for head, _ in rules}
    pages = {f"rules/{head['id']}.md": rule_page(head, body, known) for head, body in rules}
    pages |= {f"policies/{head['id']}.md": policy_page(head, body, known) for head, body in policies}
    pages["rules/index.md"] = rule_index(rules)
    pages["policies/index.md"] = policy_index(policies)
    pages["report.md"] = reference("report.md", SCHEMAS["report"])
    pages["configuration.md"] = reference("configuration.md", SCHEMAS["config"])
    for name, text in pages.items():
        if (existing := files.get_file_from_path(name)) is not None:
            files.remove(existing)
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, "review.png", content=(ROOT / ".github/review.png").read_bytes()))
    for name, schema in SCHEMAS.items():
        files.append(File.generated(config, f"schema/{name}.json", content=(ROOT / schema).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown, page, config, files):
    """`@VERSION@`, `@REPOSITORY@` and `@HOMEPAGE@` are what Cargo.toml says."""
    for key in ("version", "repository", "homepage"):
        markdown = markdown.replace(f"@{key.upper()}@", PACKAGE[key])
    return markdown


def read(file):
    """The front matter of a page, and its text."""
    _, head, body = file.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), body.strip()


def linked(text, known, to, own):
    """Rule ids in code become links; fenced blocks stay as they are."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    link = lambda found: f"[`{found[1]}`]({to}{found[1]}.md)" if found[1] in known and found[1] != own else found[0]
    return "".join(part if part.startswith("```") else re.sub(r"(?<![\[`])`([a-z0-9-]+)`(?!\])", link, part) for part in parts)


def blocks(text):
    """`yaml old` and `yaml new` become titles, the marks of the tests a comment that readers understand."""
    text = re.sub(r"^```yaml (old|new|\S+)(?: .*)?$", lambda found: f'```yaml title="{found[1]}"', text, flags=re.MULTILINE)
    return re.sub(r"# ~ ([a-z0-9, -]+)$", r"# ← \1", text, flags=re.MULTILINE)


def rule_page(head, body, known):
    facts = [f"`{head['family']}`", f"since {head['since']}"]
    if head.get("severity"):
        facts.append(head["severity"])
    elif head["family"] == "change":
        facts.append(f"kind `{head['kind']}`: the [policy](../policies/index.md) decides the severity")
    aliases = f"\n\nFormer ids: {', '.join(f'`{alias}`' for alias in head['aliases'])}." if head.get("aliases") else ""
    body = re.sub(r"^## Example\n", "## Examples\n", blocks(linked(body, known, "", head["id"])), flags=re.MULTILINE)
    title = head["title"].replace('"', '\\"')
    return f'---\ntitle: {head["id"]}\ndescription: "{title}"\n---\n# {head["title"]}\n\n`{head["id"]}` · {" · ".join(facts)}{aliases}\n\n{body}\n'


def policy_page(head, body, known):
    rows = [f"| `{kind}` | {', else '.join(cell(one) for one in (rule if isinstance(rule, list) else [rule]))} |" for kind, rule in head["kinds"].items()]
    table = "| Kind of change | Severity and least version |\n|---|---|\n" + "\n".join(rows)
    return f"---\ntitle: {head['id']}\n---\n# {head['title']}\n\n`--policy {head['id']}`\n\n{linked(body, known, '../rules/', '')}\n\n## Table\n\n{table}\n"


def policy_index(policies):
    """The words of the page, and each policy with the first sentence of its own."""
    words = (ROOT / "docs/pages/policies/index.md").read_text(encoding="utf-8")
    rows = [f"| [`{head['id']}`]({head['id']}.md) | {head['title']} |\n" for head, _ in policies]
    return words + "| Policy | Follows |\n|---|---|\n" + "".join(rows)


def cell(rule):
    """`error · minor`, and when."""
    words = {
        "covered": "if a conversion covers it", "deprecated": "if it was deprecated before", "graduates": "if it graduates",
        "maturity": "for {}", "channel": "in the {} channel",
    }
    conditions = [words.get(key, key + " {}").format(value) for key, value in rule.items() if key not in ("severity", "bump")]
    return " ".join([" · ".join(str(rule[key]) for key in ("severity", "bump") if key in rule), *conditions]).replace("|", "\\|")


def rule_index(rules):
    text = "---\ntitle: Rules\n---\n# Rules\n\n`crdwise explain RULE` shows the same pages in a terminal.\n"
    for family, about in FAMILIES.items():
        text += f"\n## {family.capitalize()}\n\n{about}\n\n| Rule | Reports |\n|---|---|\n"
        text += "".join(f"| [`{head['id']}`]({head['id']}.md) | {head['title']} |\n" for head, _ in rules if head["family"] == family)
    return text


def reference(name, schema):
    """The words of the page, and below them every key of the schema."""
    words = (ROOT / "docs/pages" / name).read_text(encoding="utf-8")
    document = json.loads((ROOT / schema).read_text(encoding="utf-8"))
    rows = list(keys(document, document, "", {}))
    return words + "\n| Key | Values | About |\n|---|---|---|\n" + "".join(f"| `{path}` | {values} | {about} |\n" for path, values, about in rows)


def keys(schema, document, path, seen):
    """Path, values and description of each key. What several keys have in common is described at the first."""
    for name, below in resolve(schema, document).get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        resolved = resolve(below, document)
        common = [option["$ref"] for option in [below, *below.get("oneOf", [])] if "$ref" in option]
        first = next((seen[reference] for reference in common if reference in seen), None)
        is_object = any("properties" in option for option, _ in inside(resolved, document))
        text = (below.get("description") or resolved.get("description", "")).replace("|", "\\|")
        if first and is_object:
            yield here, values_of(below, document), f"{text} Like `{first}`.".strip()
            continue
        seen |= dict.fromkeys(common, here)
        yield here, values_of(below, document), text
        for inner, suffix in inside(resolved, document):
            yield from keys(inner, document, here + suffix, seen)


def inside(schema, document):
    for option in schema.get("oneOf", [schema]):
        option = resolve(option, document)
        if "properties" in option:
            yield option, ""
        if isinstance(option.get("items"), dict):
            yield option["items"], "[]"
        if isinstance(option.get("additionalProperties"), dict):
            yield option["additionalProperties"], "{}"


def resolve(schema, document):
    while "$ref" in schema:
        schema = functools.reduce(lambda node, key: node[key], schema["$ref"].removeprefix("#/").split("/"), document)
    return schema


def values_of(schema, document):
    schema = resolve(schema, document)
    if "enum" in schema:
        return " ".join("null" if value is None else f"`{json.dumps(value) if isinstance(value, bool) else value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "oneOf" in schema:
        return " or ".join(values_of(option, document) for option in schema["oneOf"])
    kind = schema.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else kind
