"""Checks every link inside the built site and of the repository's own Markdown: the file must be there, and the anchor in it."""

import html.parser
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def main(site, address):
    site = pathlib.Path(site).resolve()
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    base = urllib.parse.urlsplit(address).path.rstrip("/")
    broken, checked, outside = [], 0, set()
    for file, page in pages.items():
        for link in page.links:
            link = link.removeprefix(address.rstrip("/"))
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                outside.add(link)
                continue
            checked += 1
            path = urllib.parse.unquote(parts.path)
            if path.startswith("/"):
                target = site / path.removeprefix(base).lstrip("/")
            else:
                target = (file.parent / path).resolve() if path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (parts.fragment and target in pages and parts.fragment not in pages[target].anchors):
                broken.append(f"{file.relative_to(site)}: {link}")
    for file in [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / ".github/CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)\s]+)\)", file.read_text(encoding="utf-8")):
            if link.startswith(("https://", "http://")):
                outside.add(link)
                if link.startswith(address):
                    target = site / link.removeprefix(address).strip("/")
                    broken += [] if target.exists() else [f"{file.name}: {link}"]
            elif not link.startswith("#"):
                checked += 1
                broken += [] if (file.parent / link.split("#")[0]).exists() else [f"{file.name}: {link}"]
    print(f"{len(pages)} pages, {checked} links checked, {len(outside)} addresses outside not checked")
    if broken:
        sys.exit("broken links:\n" + "\n".join(sorted(set(broken))))


if __name__ == "__main__":
    main(*sys.argv[1:])
