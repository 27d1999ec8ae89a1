"use strict";
// The page reads without this; here are filters, keys, decisions and their export. Names of CRDs, paths and rules are read as text
// of the page and written as text: nothing from a reviewed file ever becomes markup, an address or code.
(() => {
const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const WORDS = { "accept": "accept", "needs-work": "needs work", "question": "question" };
const FIELDS = { why: "Why", asked: "Asked by", links: "Links", tell: "To be said", reviewers: "Reviewers" };
const textOf = (element) => (element ? element.textContent.trim() : "");

// ---- what is on the page

const crds = Array.from(document.querySelectorAll("section.crd"), (element) => ({
  element, shown: 0, hidden: false, nav: document.querySelector(`nav [data-crd="${element.id.slice(2)}"]`), name: textOf(element.querySelector(".crd-name")),
}));
const crdOf = new Map(crds.map((crd) => [crd.element, crd]));
const versions = Array.from(document.querySelectorAll("section.version"), (element) => ({
  element, shown: 0, hidden: false, crd: crdOf.get(element.parentElement), name: textOf(element.querySelector(".version-name")),
}));
const versionOf = new Map(versions.map((version) => [version.element, version]));
// Only chunks near the screen have style and layout.
const chunks = Array.from(document.querySelectorAll(".chunk"), (element) => ({ element, shown: 0, told: -1, cards: [], version: versionOf.get(element.parentElement) }));
const chunkOf = new Map(chunks.map((chunk) => [chunk.element, chunk]));
const byFingerprint = new Map();
const cards = Array.from(document.querySelectorAll("article.change"), (element) => {
  const { sort, severity, status, affects, crds, rule } = element.dataset;
  const card = {
    element, sort, severity, status, rule, id: element.id.slice(2), affects: affects ? affects.split(" ") : ["nobody"], crds: crds.split(" "),
    quiet: "quiet" in element.dataset, chunk: chunkOf.get(element.parentElement), shown: true, text: null, decide: null,
  };
  card.version = card.chunk.version;
  card.chunk.cards.push(card);
  byFingerprint.set(card.id, card);
  return card;
});
const cardOf = new Map(cards.map((card) => [card.element, card]));
for (const place of document.querySelectorAll(".places li[id]")) byFingerprint.set(place.id.slice(2), cardOf.get(place.closest(".change")));
const open = cards.filter((card) => card.status === "new" && !card.quiet);

const searchText = (card) => {
  if (card.text === null) {
    const { element, version } = card;
    const parts = [element.firstElementChild, element.querySelector(".message"), element.querySelector(".rule"), element.querySelector(".places")];
    card.text = [version.crd.name, version.name, ...parts.map(textOf)].join("\n").toLowerCase();
  }
  return card.text;
};

// ---- filters

const picked = (name) => {
  const boxes = document.querySelectorAll(`[data-filter="${name}"] input:checked`);
  return boxes.length ? new Set(Array.from(boxes, (box) => box.value)) : null;
};

const readFilters = () => ({
  words: $("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean),
  sort: picked("sort"), severity: picked("severity"), affects: picked("affects"),
  crd: $("filter-crd").value, rule: $("filter-rule").value, decision: $("filter-decision").value,
  quiet: $("show-quiet").checked, before: $("show-before").checked, waived: $("show-waived").checked,
});

const matches = (card, by) =>
  (by.quiet || !card.quiet || card.status !== "new") &&
  (by.before || card.status !== "pre-existing") &&
  (by.waived || card.status !== "waived") &&
  (!by.sort || by.sort.has(card.sort)) &&
  (!by.severity || by.severity.has(card.severity)) &&
  (!by.affects || card.affects.some((word) => by.affects.has(word))) &&
  (!by.crd || card.crds.includes(by.crd)) &&
  (!by.rule || card.rule === by.rule) &&
  (!by.decision || (decisionOf(card) || "none") === by.decision) &&
  by.words.every((word) => searchText(card).includes(word));

const HEIGHT = 9.5;

// Writes only what changed and reads no layout, so that thousands of changes cost one pass of style.
const apply = () => {
  const by = readFilters();
  let shown = 0;
  for (const part of [...crds, ...versions, ...chunks]) part.shown = 0;
  for (const card of cards) {
    const show = matches(card, by);
    if (show !== card.shown) {
      card.shown = show;
      card.element.hidden = !show;
    }
    if (show) {
      shown += 1;
      card.chunk.shown += 1;
      card.version.shown += 1;
      card.version.crd.shown += 1;
    }
  }
  for (const chunk of chunks) {
    if (chunk.shown !== chunk.told) {
      chunk.told = chunk.shown;
      chunk.element.hidden = chunk.shown === 0;
      // How high it is, about, until it comes near.
      chunk.element.style.containIntrinsicBlockSize = `${chunk.shown * HEIGHT}rem`;
    }
  }
  for (const part of [...versions, ...crds]) {
    const hidden = part.shown === 0;
    if (hidden !== part.hidden) {
      part.hidden = hidden;
      part.element.hidden = hidden;
      if (part.nav) part.nav.hidden = hidden;
    }
  }
  $("count").textContent = shown === cards.length ? `${shown} shown` : `${shown} of ${cards.length} shown`;
  $("nothing").hidden = shown > 0 || cards.length === 0;
};

const clearFilters = () => {
  for (const box of document.querySelectorAll("[data-filter] input")) box.checked = false;
  for (const id of ["filter-text", "filter-crd", "filter-rule", "filter-decision"]) $(id).value = "";
  apply();
};

// ---- decisions, kept in the page's own storage where the browser allows it

const KEY = `crdwise:${document.body.dataset.review}`;
const state = { decisions: {}, fields: {}, keys: true };
let stored = true;

const adopt = (id, decision, note, text) => {
  const card = byFingerprint.get(id);
  if (!card) return false;
  const known = typeof decision === "string" && Object.hasOwn(WORDS, decision) ? decision : "";
  const said = typeof note === "string" ? note : "";
  if (known || said) state.decisions[card.id] = { decision: known, note: said, text: typeof text === "string" ? text : "" };
  else delete state.decisions[card.id];
  return true;
};

const load = () => {
  try {
    const saved = JSON.parse(localStorage.getItem(KEY)) || {};
    for (const [id, entry] of Object.entries(saved.decisions || {})) adopt(id, entry.decision, entry.note, entry.text);
    for (const name of Object.keys(FIELDS)) if (typeof saved.fields?.[name] === "string") state.fields[name] = saved.fields[name];
    state.keys = saved.keys !== false;
  } catch {
    stored = false;
  }
};

const save = () => {
  try {
    localStorage.setItem(KEY, JSON.stringify(state));
    stored = true;
  } catch {
    stored = false;
  }
  showKept();
};

const showKept = () => {
  $("storage-note").textContent = stored
    ? "Decisions are kept in this browser. Export the minutes to keep or share them."
    : "This browser keeps nothing for this page. Export the minutes before you close it.";
  progress();
};

const decisionOf = (card) => state.decisions[card.id]?.decision || "";

const progress = () => {
  const done = open.filter(decisionOf).length;
  $("progress").textContent = open.length ? `${done} of ${open.length} decided` : "";
};

// Buttons and note of a change are made when it comes near the screen.
const hydrate = (card) => {
  if (card.decide || card.status === "pre-existing") return card.decide;
  card.decide = $("decide").content.firstElementChild.cloneNode(true);
  paint(card);
  card.element.append(card.decide);
  return card.decide;
};

const paint = (card) => {
  if (!card.decide) return;
  const entry = state.decisions[card.id];
  for (const button of card.decide.querySelectorAll("button")) button.setAttribute("aria-pressed", String(entry?.decision === button.value));
  const note = card.decide.querySelector("textarea");
  if (note.value !== (entry?.note || "")) note.value = entry?.note || "";
  card.decide.querySelector(".stale").hidden = !entry?.decision || entry.text === messageOf(card);
};

const messageOf = (card) => textOf(card.element.querySelector(".message"));

const decide = (card, decision) => {
  const entry = state.decisions[card.id];
  adopt(card.id, entry?.decision === decision && entry.text === messageOf(card) ? "" : decision, entry?.note, messageOf(card));
  paint(card);
  save();
};

// ---- going from change to change

let current = null;

const select = (card, address = true) => {
  current?.element.removeAttribute("aria-current");
  current = card;
  card.element.setAttribute("aria-current", "true");
  hydrate(card);
  card.element.scrollIntoView({ block: "start" });
  card.element.focus({ preventScroll: true });
  if (address) {
    try {
      history.replaceState(null, "", `#f-${card.id}`);
    } catch {
      // A frame without a place of its own.
    }
  }
};

const step = (by, wanted = () => true) => {
  const list = cards.filter((card) => card.shown);
  let at = current?.shown ? list.indexOf(current) : by > 0 ? -1 : list.length;
  for (at += by; at >= 0 && at < list.length; at += by) if (wanted(list[at])) return select(list[at]);
};

const stepCrd = (by) => {
  const from = current?.version.crd;
  if (by > 0) return step(1, (card) => card.version.crd !== from);
  // Back to the first change of this CRD, or of the one before.
  const list = cards.filter((card) => card.shown);
  const at = list.indexOf(current);
  const first = (crd) => list.find((card) => card.version.crd === crd);
  if (at > 0) select(first(from) === current ? first(list[at - 1].version.crd) : first(from));
};

const reveal = (card) => {
  if (card.shown) return;
  if (card.quiet) $("show-quiet").checked = true;
  if (card.status === "pre-existing") $("show-before").checked = true;
  if (card.status === "waived") $("show-waived").checked = true;
  apply();
  if (!card.shown) clearFilters();
};

const follow = () => {
  const id = /^#f-([0-9a-f]+)$/.exec(location.hash)?.[1];
  const card = id && byFingerprint.get(id);
  if (!card) return;
  reveal(card);
  const evidence = card.element.querySelector(".evidence");
  if (evidence) evidence.open = true;
  select(card, card.id === id);
  if (card.id !== id) $(`f-${id}`)?.scrollIntoView({ block: "nearest" });
};

const toggleEvidence = (card) => {
  const evidence = card.element.querySelector(".evidence");
  if (evidence) evidence.open = !evidence.open;
};

const toggleRule = (card) => {
  const evidence = card.element.querySelector(".evidence");
  const page = $(`r-${card.rule}`)?.querySelector(".page");
  if (!evidence || !page) return;
  const there = evidence.querySelector(".page");
  if (there && evidence.open) return there.remove();
  if (!there) evidence.append(page.cloneNode(true));
  evidence.open = true;
};

// ---- minutes and waivers

const ZERO = "\u200b";
// In prose nothing of a file is Markdown, a mention, a reference or a link.
const markdown = (text) => text
  .replace(/[\\`*_[\]<>#|~&]/g, "\\$&")
  .replace(/(@|\\#|!)(?=\w)/g, `$1${ZERO}`)
  .replace(/:\/\//g, `:${ZERO}//`)
  .replace(/www\./gi, `www${ZERO}.`)
  .replace(/\b([0-9a-f]{6})([0-9a-f]+)\b/gi, `$1${ZERO}$2`);
const code = (text) => {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), (run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  const pad = /^`|`$|^ .* $/.test(text) ? " " : "";
  return text ? `${fence}${pad}${text}${pad}${fence}` : "";
};
const told = (element) => Array.from(element?.childNodes || [], (node) =>
  node.nodeName === "CODE" ? code(node.textContent) : node.nodeType === Node.TEXT_NODE || node.className === "also" ? markdown(node.textContent) : "",
).join("").replace(/\s+/g, " ").trim();
const indented = (text, by) => text.trim().split(/\r?\n/).join(`\n${" ".repeat(by)}`);

const heading = (card) => {
  const { crd, name } = card.version;
  return [crd.name ? code(crd.name) : "The bundle", name && code(name)].filter(Boolean).join(" · ");
};

const line = (card) => {
  const { element } = card;
  const path = textOf(element.querySelector("h5 .path"));
  const to = textOf(element.querySelector("h5 .to"));
  const message = element.querySelector(".message");
  const named = message.firstChild?.nodeName === "CODE" && message.firstChild.textContent === path;
  const where = path && !named ? `${code(path)}${to ? ` → ${code(to)}` : ""}: ` : "";
  return `- **${markdown(textOf(element.querySelector(".tag")))}** ${where}${told(message)} · ${code(textOf(element.querySelector(".rule")))}`;
};

const minutes = () => {
  const out = [`# ${markdown(textOf(document.querySelector("h1")).replace(/\s+/g, " "))}`, ""];
  for (const side of document.querySelectorAll(".sides > div")) {
    const [name, version] = [side.querySelector("h2"), side.querySelector(".version")];
    const commit = side.querySelector("p code + code");
    out.push(`- ${textOf(name.firstChild)}: ${code(textOf(side.querySelector(".source")))}${version ? ` (${markdown(textOf(version))})` : ""}${commit ? ` at ${code(textOf(commit))}` : ""}`);
  }
  out.push(`- Policy: ${code(textOf(document.querySelector(".policy")))}`);
  out.push(`- Verdict: ${markdown(textOf(document.querySelector(".verdict > p")))}`);
  out.push("", "## Checklist", "");
  for (const [index, question] of document.querySelectorAll(".checklist > ol > li").entries()) {
    out.push(`${index + 1}. ${textOf(question.querySelector("h3"))} ${markdown(textOf(question.querySelector(".answer")))}`);
  }
  out.push("", "## Contributor", "");
  for (const [name, label] of Object.entries(FIELDS)) out.push(`- ${label}: ${indented(state.fields[name] || "", 2)}`.trimEnd());
  const counts = Object.entries(WORDS).map(([word, label]) => `${open.filter((card) => decisionOf(card) === word).length} ${label}`);
  out.push("", "## Decisions", "", `${counts.join(", ")}, ${open.filter((card) => !decisionOf(card)).length} without a decision.`);
  let under = null;
  for (const card of cards) {
    const entry = state.decisions[card.id];
    if (!entry && (card.quiet || card.status !== "new")) continue;
    if (card.version !== under) out.push("", `### ${heading(card)}`, "");
    under = card.version;
    out.push(`${line(card)} <!-- f-${card.id} -->`);
    out.push(`  - Decision: ${WORDS[entry?.decision] || ""}`.trimEnd());
    if (entry?.note) out.push(`  - Note: ${indented(entry.note, 4)}`);
  }
  return `${out.join("\n")}\n`;
};

// A JSON string is a YAML string once what YAML can't print is escaped, too.
const quoted = (text) => JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]/g, (c) =>
  /[\ud800-\udfff]/.test(c) ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

const waived = () => cards.filter((card) => decisionOf(card) === "accept" && card.status === "new" && card.severity !== "info");

const waivers = () => {
  const out = ["# From the decisions of an API review. Add these to the waivers of crdwise.yaml.", "waivers:"];
  for (const card of waived()) {
    const places = Array.from(card.element.querySelectorAll(".places li"), (place) => [textOf(place.querySelector(".p-crd")), textOf(place.querySelector(".p-version"))]);
    out.push(`  # f-${card.id}`);
    for (const [crd, version] of places.length ? places : [[card.version.crd.name, card.version.name]]) {
      const reason = (state.decisions[card.id].note || "accepted in the API review").trim().replace(/\s+/g, " ");
      const pairs = [["rule", textOf(card.element.querySelector(".rule"))], ["crd", crd], ["version", version], ["path", textOf(card.element.querySelector("h5 .path"))], ["reason", reason]];
      const link = /https?:\/\/[^\s<>()"'`]+/.exec(state.fields.links || "")?.[0];
      if (link) pairs.push(["link", link]);
      out.push(...pairs.filter(([, value]) => value).map(([key, value], index) => `  ${index ? " " : "-"} ${key}: ${quoted(value)}`));
    }
  }
  return `${out.join("\n")}\n`;
};

// Minutes as this page or `--format minutes` writes them, filled in by whomever, or waivers as this page writes them.
const take = (text) => {
  let [known, unknown, id, note, field, pending] = [0, 0, null, null, null, ""];
  const entries = new Map();
  const words = Object.fromEntries(Object.entries(WORDS).flatMap(([key, label]) => [[key, key], [label, key]]));
  const fieldOf = Object.fromEntries(Object.entries(FIELDS).map(([key, label]) => [label.toLowerCase(), key]));
  let section = "";
  for (const row of text.split(/\r?\n/)) {
    if (note && /^ {4}/.test(row)) { entries.get(id).note += `${pending}\n${row.slice(4)}`; pending = ""; continue; }
    if (field && /^ {2}/.test(row)) { state.fields[field] += `${pending}\n${row.slice(2)}`; pending = ""; continue; }
    if (!row.trim()) { pending += "\n"; continue; }
    [note, field, pending] = [null, null, ""];
    const head = /^##+ (.*)/.exec(row);
    if (head) { section = head[1].trim().toLowerCase(); continue; }
    const item = /^- .*<!-- f-([0-9a-f]{16,}) -->\s*$/.exec(row) || /^ {2}# f-([0-9a-f]{16,})$/.exec(row);
    if (item) {
      id = item[1];
      entries.set(id, { decision: row.startsWith("-") ? "" : "accept", note: "", row });
      continue;
    }
    const named = section === "contributor" && /^- ([^:]+):\s*(.*)$/.exec(row);
    if (named && Object.hasOwn(fieldOf, named[1].toLowerCase())) {
      field = fieldOf[named[1].toLowerCase()];
      state.fields[field] = named[2];
      continue;
    }
    if (!id) continue;
    const decision = /^\s+- Decision:\s*(.*?)\s*$/i.exec(row);
    if (decision) { entries.get(id).decision = words[decision[1].toLowerCase()] || ""; continue; }
    const said = /^\s+- Note:\s?(.*)$/i.exec(row);
    if (said) { entries.get(id).note = said[1]; note = true; continue; }
    const reason = /^ {4}reason: (".*")$/.exec(row);
    if (reason) try { entries.get(id).note = JSON.parse(reason[1]); } catch { /* not ours */ }
  }
  for (const [key, entry] of entries) {
    const card = byFingerprint.get(key);
    if (!entry.decision && !entry.note) continue;
    if (!card) { unknown += 1; continue; }
    const same = !entry.row.startsWith("-") || entry.row.startsWith(line(card)) || entry.row.includes(told(card.element.querySelector(".message")));
    adopt(key, entry.decision, entry.note, same ? messageOf(card) : "");
    known += 1;
  }
  for (const card of cards) paint(card);
  showFields();
  save();
  apply();
  return `${known} taken over${unknown ? `, ${unknown} about changes that this page doesn't have` : ""}.`;
};

const exchange = (mode) => {
  const taking = mode === "import";
  $("exchange-title").textContent = { minutes: "Minutes", waivers: "Waivers", import: "Import" }[mode];
  $("exchange-note").textContent = {
    minutes: "Decisions, notes and the contributor's part as Markdown. Import takes it back.",
    waivers: waived().length ? "For each accepted error or warning, to be added to crdwise.yaml." : "Accept an error or a warning to make a waiver of it.",
    import: "Minutes or waivers that were exported from such a page, or minutes filled in by hand.",
  }[mode];
  $("exchange-text").value = { minutes, waivers, import: () => "" }[mode]();
  $("exchange-text").readOnly = !taking;
  $("exchange-result").textContent = "";
  $("exchange-file").value = "";
  for (const id of ["exchange-copy", "exchange-save"]) $(id).hidden = taking;
  for (const id of ["exchange-take", "exchange-file-row"]) $(id).hidden = !taking;
  $("exchange").dataset.mode = mode;
  $("exchange").showModal();
};

const saveFile = () => {
  const address = URL.createObjectURL(new Blob([$("exchange-text").value], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = $("exchange").dataset.mode === "minutes" ? "review.md" : "waivers.yaml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};

const copy = async () => {
  $("exchange-text").select();
  try {
    await navigator.clipboard.writeText($("exchange-text").value);
    $("exchange-result").textContent = "Copied.";
  } catch {
    $("exchange-result").textContent = document.execCommand("copy") ? "Copied." : "Selected: copy it with the keyboard.";
  }
};

const showFields = () => {
  for (const area of document.querySelectorAll("[data-field]")) area.value = state.fields[area.dataset.field] || "";
};

// ---- events

const inside = (event) => cardOf.get(event.target.closest?.(".change"));

$("changes").addEventListener("click", (event) => {
  const card = inside(event);
  if (!card) return;
  const button = event.target.closest(".decide button");
  if (button) decide(card, button.value);
  const link = event.target.closest(".why a, a.rule");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && card.element.querySelector(".evidence")) {
    event.preventDefault();
    toggleRule(card);
  }
});
$("changes").addEventListener("input", (event) => {
  const card = inside(event);
  if (!card || !event.target.matches(".decide textarea")) return;
  const entry = state.decisions[card.id];
  adopt(card.id, entry?.decision, event.target.value, entry?.text ?? messageOf(card));
  save();
});
$("changes").addEventListener("focusin", (event) => {
  const card = inside(event);
  if (!card || card === current) return;
  current?.element.removeAttribute("aria-current");
  current = card;
  card.element.setAttribute("aria-current", "true");
});
$("panel").addEventListener("input", apply);
$("clear").addEventListener("click", clearFilters);
for (const area of document.querySelectorAll("[data-field]")) {
  area.addEventListener("input", () => {
    state.fields[area.dataset.field] = area.value;
    save();
  });
}
$("export-minutes").addEventListener("click", () => exchange("minutes"));
$("export-waivers").addEventListener("click", () => exchange("waivers"));
$("import").addEventListener("click", () => exchange("import"));
$("open-help").addEventListener("click", () => $("help").showModal());
$("exchange-copy").addEventListener("click", copy);
$("exchange-save").addEventListener("click", saveFile);
$("exchange-take").addEventListener("click", () => { $("exchange-result").textContent = take($("exchange-text").value); });
$("exchange-file").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  if (file) $("exchange-text").value = await file.text();
});
$("keys-on").addEventListener("change", (event) => { state.keys = event.target.checked; save(); });
for (const button of document.querySelectorAll("dialog [data-close]")) button.addEventListener("click", () => button.closest("dialog").close());

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  J: () => stepCrd(1),
  K: () => stepCrd(-1),
  u: () => step(1, (card) => card.status === "new" && !decisionOf(card)),
  o: () => current && toggleEvidence(current),
  r: () => current && toggleRule(current),
  a: () => current && hydrate(current) && decide(current, "accept"),
  w: () => current && hydrate(current) && decide(current, "needs-work"),
  q: () => current && hydrate(current) && decide(current, "question"),
  n: () => current && hydrate(current)?.querySelector("textarea").focus(),
  "/": () => { $("panel").open = true; $("filter-text").focus(); },
  d: () => { $("show-quiet").checked = !$("show-quiet").checked; apply(); },
  x: clearFilters,
  m: () => exchange("minutes"),
  "?": () => $("help").showModal(),
};
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
  if (key === "Escape" && target.matches("textarea, #filter-text")) {
    target.blur();
    current?.element.focus({ preventScroll: true });
    return;
  }
  if (!state.keys || target.matches("textarea, select, input:not([type=checkbox])") || !Object.hasOwn(KEYS, key)) return;
  event.preventDefault();
  KEYS[key]();
});
window.addEventListener("hashchange", follow);
window.addEventListener("beforeunload", (event) => {
  if (!stored && Object.keys(state.decisions).length) event.preventDefault();
});

// On paper everything that is shown is open; style does it where it can.
if (!CSS.supports("selector(::details-content)")) {
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = cards.filter((card) => card.shown).map((card) => card.element.querySelector(".evidence")).filter((evidence) => evidence && !evidence.open);
    for (const evidence of opened) evidence.open = true;
  });
  window.addEventListener("afterprint", () => { for (const evidence of opened) evidence.open = false; });
}

load();
$("keys-on").checked = state.keys;
showFields();
showKept();
if (matchMedia("(max-width: 60rem)").matches) $("panel").open = false;
apply();
root.classList.add("js");
const near = new IntersectionObserver((seen) => {
  for (const entry of seen) {
    if (!entry.isIntersecting) continue;
    near.unobserve(entry.target);
    chunkOf.get(entry.target).cards.forEach(hydrate);
  }
}, { rootMargin: "600px" });
for (const chunk of chunks) near.observe(chunk.element);
follow();
// The text to search is gathered while nobody waits.
(window.requestIdleCallback || setTimeout)(() => cards.forEach(searchText));
})();
