"use strict";
// The page reads without this; here are filters, keys, decisions and their export. Names of CRDs, paths and rules are read as text
// of the page and written as text: nothing from a reviewed file ever becomes markup, an address or code.
(() => {
const $ = (id) => document.getElementById(id);
const all = (selector, under = document) => Array.from(under.querySelectorAll(selector));
const root = document.documentElement;
const WORDS = { "accept": "accept", "needs-work": "needs work", "question": "question" };
const DONE = { "accept": "accepted", "needs-work": "needs work", "question": "question" };
const FIELDS = { why: "Why", asked: "Asked by", links: "Links", tell: "To communicate", reviewers: "Reviewers" };
// A page without anything to decide has neither filters nor keys.
const reviewing = Boolean($("count"));
const textOf = (element) => (element ? element.textContent.trim() : "");

// ---- what is on the page

const parts = all(".part", $("changes")).map((element) => ({ element, shown: 0, told: -1, hidden: false, cards: [], total: element.querySelector(".total") }));
const partOf = new Map(parts.map((part) => [part.element, part]));
// Only chunks near the screen have style and layout.
const chunks = all(".chunk").map((element) => ({ element, shown: 0, told: -1, cards: [], part: partOf.get(element.parentElement) }));
const chunkOf = new Map(chunks.map((chunk) => [chunk.element, chunk]));
const byFingerprint = new Map();
const cards = all("article.card").map((element) => {
  const { sort, severity, status, affects, crds, rule } = element.dataset;
  const chunk = chunkOf.get(element.parentElement);
  const card = {
    element, sort, severity, status, rule, id: element.id.slice(2), affects: affects ? affects.split(" ") : ["nobody"], crds: crds.split(" "),
    aside: sort === "documentation" || sort === "earlier", chunk, part: chunk.part, shown: true, text: null, decide: null, agenda: null,
  };
  card.part.cards.push(card);
  chunk.cards.push(card);
  byFingerprint.set(card.id, card);
  return card;
});
const cardOf = new Map(cards.map((card) => [card.element, card]));
for (const inner of all("article.card [id^=f-]")) byFingerprint.set(inner.id.slice(2), cardOf.get(inner.closest(".card")));
for (const row of all(".agenda li")) {
  const card = byFingerprint.get(row.dataset.of);
  if (card) card.agenda = row.querySelector(".state");
}
const open = cards.filter((card) => card.status === "new" && !card.aside);

const searchText = (card) => {
  if (card.text === null) card.text = [card.element.querySelector("h3"), card.element.querySelector(".meta"), ...all(".place", card.element)].map(textOf).join("\n").toLowerCase();
  return card.text;
};

// ---- filters: the address has them, chips are links that change the address

const FACETS = ["class", "severity", "affects", "crd", "rule", "decision", "status"];
const valuesOf = (card, facet) => {
  switch (facet) {
    case "class": return [card.sort];
    case "severity": return [card.severity];
    case "affects": return card.affects;
    case "crd": return card.crds;
    case "rule": return [card.rule];
    case "decision": return [decisionOf(card) || "none"];
    default: return [card.status];
  }
};
// Each chip of a facet with the number behind it.
const chips = FACETS.map((facet) => new Map(all(`[data-facet=${facet}] [data-value]`).map((link) => [
  link.dataset.value, { link, facet, value: link.dataset.value, number: link.querySelector("b"), done: link.querySelector(".done"), count: 0, told: -1, on: false, open: 0, decided: 0, row: link.closest("li") },
])));

let by = { picked: FACETS.map(() => null), words: [], query: "" };

const readAddress = (hash) => {
  const given = new URLSearchParams(hash.includes("=") ? hash.slice(1) : "");
  const picked = FACETS.map((facet) => {
    const values = (given.get(facet) || "").split(",").filter((value) => /^[a-z0-9-]+$/.test(value));
    return values.length ? new Set(values) : null;
  });
  const query = given.get("text") || "";
  return { picked, query, words: query.toLowerCase().split(/\s+/).filter(Boolean), at: given.get("at") || "" };
};

const address = ({ picked, query }, at = "") => {
  const out = FACETS.flatMap((facet, index) => (picked[index] ? [`${facet}=${[...picked[index]].sort().join(",")}`] : []));
  if (query) out.push(`text=${encodeURIComponent(query)}`);
  if (at && out.length) out.push(`at=${at}`);
  return out.length ? `#${out.join("&")}` : at ? `#${at}` : "#all";
};

const toggled = (index, value) => {
  const picked = by.picked.slice();
  const values = new Set(picked[index] || []);
  if (!values.delete(value)) values.add(value);
  picked[index] = values.size ? values : null;
  return { ...by, picked };
};

const HEIGHT = 9.5;

// One pass: a card that fails one facet only still counts for the chips of that facet. Writes only what changed and reads no layout.
const apply = () => {
  let shown = 0;
  for (const part of [...parts, ...chunks]) part.shown = 0;
  for (const facet of chips) for (const chip of facet.values()) [chip.count, chip.open, chip.decided] = [0, 0, 0];
  const asks = by.picked.some(Boolean) || by.words.length > 0;
  const wantsAside = by.picked[0];
  for (const card of cards) {
    let fails = 0;
    let failed = -1;
    if (!by.words.every((word) => searchText(card).includes(word))) fails = 2;
    for (let index = 0; index < FACETS.length && fails < 2; index += 1) {
      const picked = by.picked[index];
      if (picked && !valuesOf(card, FACETS[index]).some((value) => picked.has(value))) {
        fails += 1;
        failed = index;
      }
    }
    // What is folded away counts only where somebody asks for its class.
    const counts = !card.aside || wantsAside?.has(card.sort);
    const show = fails === 0;
    if (fails < 2) {
      for (let index = 0; index < FACETS.length; index += 1) {
        if (fails === 1 && index !== failed || index > 0 && !counts) continue;
        for (const value of valuesOf(card, FACETS[index])) {
          const chip = chips[index].get(value);
          if (!chip) continue;
          chip.count += 1;
          if (!card.aside && card.status === "new") {
            chip.open += 1;
            if (decisionOf(card)) chip.decided += 1;
          }
        }
      }
    }
    if (show !== card.shown) {
      card.shown = show;
      card.element.hidden = !show;
    }
    if (show) {
      shown += counts || asks ? 1 : 0;
      card.chunk.shown += 1;
      card.part.shown += 1;
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
  for (const part of parts) {
    if (part.shown !== part.told) {
      part.told = part.shown;
      part.total.textContent = part.shown === part.cards.length ? part.shown : `${part.shown} of ${part.cards.length}`;
      part.element.hidden = part.shown === 0;
    }
    // What is folded opens for a filter that asks for it.
    if (part.element.localName === "details" && wantsAside && part.shown) part.element.open = true;
  }
  for (const [index, facet] of chips.entries()) {
    for (const chip of facet.values()) {
      const on = Boolean(by.picked[index]?.has(chip.value));
      if (on !== chip.on) {
        chip.on = on;
        if (on) chip.link.setAttribute("aria-current", "true");
        else chip.link.removeAttribute("aria-current");
      }
      if (chip.count !== chip.told) {
        chip.told = chip.count;
        if (chip.number) chip.number.textContent = chip.count;
        chip.link.classList.toggle("zero", chip.count === 0);
        if (chip.row) chip.row.hidden = chip.count === 0 && !on;
      }
      const hash = address(toggled(index, chip.value));
      if (hash !== chip.hash) {
        chip.hash = hash;
        chip.link.setAttribute("href", hash);
      }
      if (chip.done) chip.done.textContent = chip.decided ? `${chip.decided} of ${chip.open} decided` : "";
      if (chip.done) chip.done.style.setProperty("--part", chip.open ? `${(100 * chip.decided) / chip.open}%` : "0%");
    }
  }
  $("clear").hidden = !asks;
  $("count").textContent = asks ? `${shown} shown` : "";
  $("nothing").hidden = shown > 0 || !asks;
  progress();
};

const go = (next, at) => {
  const hash = address(next, at);
  if (hash === location.hash) return;
  try {
    history.pushState(null, "", hash);
  } catch {
    location.hash = hash;
  }
};

const setFilters = (next) => {
  by = next;
  if ($("filter-text").value.trim() !== by.query.trim()) $("filter-text").value = by.query;
  apply();
};

const clearFilters = () => {
  const next = { picked: FACETS.map(() => null), words: [], query: "" };
  go(next);
  setFilters(next);
};

// ---- decisions, kept in the page's own storage where the browser allows it

const KEY = `crdwise:${document.body.dataset.review}`;
const state = { decisions: {}, fields: {}, keys: true };
let stored = true;
const undone = [];

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
};

const decisionOf = (card) => state.decisions[card.id]?.decision || "";

const progress = () => {
  const done = open.filter(decisionOf).length;
  $("progress").firstElementChild.textContent = open.length ? `${done} of ${open.length} decided` : "";
  $("progress").style.setProperty("--part", open.length ? `${(100 * done) / open.length}%` : "0%");
  $("next-open").disabled = done === open.length;
};

// Buttons and note of a card are made when it comes near the screen.
const hydrate = (card) => {
  if (card.decide || card.sort === "earlier") return card.decide;
  card.decide = $("decide").content.firstElementChild.cloneNode(true);
  paint(card);
  card.element.append(card.decide);
  return card.decide;
};

const paint = (card) => {
  const entry = state.decisions[card.id];
  if (card.agenda && card.status === "new") {
    card.agenda.textContent = DONE[entry?.decision] || "";
    card.agenda.dataset.decision = entry?.decision || "";
  }
  if (!card.decide) return;
  for (const button of all("button", card.decide)) button.setAttribute("aria-pressed", String(entry?.decision === button.value));
  const note = card.decide.querySelector("textarea");
  if (note.value !== (entry?.note || "")) note.value = entry?.note || "";
  card.decide.querySelector(".stale").hidden = !entry?.decision || entry.text === messageOf(card);
};

const messageOf = (card) => textOf(card.element.querySelector(".sentence"));

const decide = (card, decision) => {
  const entry = state.decisions[card.id];
  const back = entry?.decision === decision && entry.text === messageOf(card);
  undone.push([card, entry && { ...entry }]);
  adopt(card.id, back ? "" : decision, entry?.note, messageOf(card));
  paint(card);
  save();
  // The next undecided one is found before filters by decision hide this one.
  const next = back ? null : nextOpen(card);
  apply();
  if (next) select(next);
};

const undo = () => {
  const last = undone.pop();
  if (!last) return;
  const [card, entry] = last;
  adopt(card.id, entry?.decision, entry?.note, entry?.text);
  paint(card);
  save();
  apply();
  reveal(card);
  select(card);
};

const acceptAll = (part) => {
  const list = part.cards.filter((card) => card.shown && card.status === "new" && !decisionOf(card));
  for (const card of list) {
    adopt(card.id, "accept", state.decisions[card.id]?.note, messageOf(card));
    paint(card);
  }
  save();
  apply();
  $("count").textContent = `${list.length} accepted`;
};

// ---- going from card to card

let current = null;

const mark = (card) => {
  current?.element.removeAttribute("aria-current");
  current = card;
  card.element.setAttribute("aria-current", "true");
};

const select = (card, keepAddress = false) => {
  mark(card);
  hydrate(card);
  if (card.part.element.localName === "details") card.part.element.open = true;
  card.element.scrollIntoView({ block: "start" });
  card.element.focus({ preventScroll: true });
  if (!keepAddress) {
    try {
      history.replaceState(null, "", address(by, `f-${card.id}`));
    } catch {
      // A frame without a place of its own.
    }
  }
};

const reachable = () => cards.filter((card) => card.shown && (card.part.element.localName !== "details" || card.part.element.open));

const step = (by, wanted = () => true) => {
  const list = reachable();
  let at = current?.shown ? list.indexOf(current) : by > 0 ? -1 : list.length;
  for (at += by; at >= 0 && at < list.length; at += by) if (wanted(list[at])) return select(list[at]);
};

const isOpen = (card) => card.status === "new" && !card.aside && !decisionOf(card);

// The next undecided one behind a card, or the first before it.
const nextOpen = (card) => {
  const list = cards.filter((other) => other.shown);
  const at = list.indexOf(card);
  return list.slice(at + 1).find(isOpen) || list.slice(0, Math.max(at, 0)).find(isOpen);
};

const toOpen = () => {
  const next = nextOpen(current);
  if (next) return select(next);
  const anywhere = cards.find(isOpen);
  if (anywhere) {
    reveal(anywhere);
    select(anywhere);
  }
};

const stepCrd = (by) => step(by, (card) => !current || !card.crds.some((crd) => current.crds.includes(crd)));

const reveal = (card) => {
  if (!card.shown) clearFilters();
  if (card.part.element.localName === "details") card.part.element.open = true;
};

// The address names filters, a card, a draft or a rule.
const follow = () => {
  const hash = location.hash;
  if (hash.includes("=") || hash === "#all" || hash === "") {
    const next = readAddress(hash);
    setFilters(next);
    if (!next.at) {
      if (hash.includes("=")) $("changes").scrollIntoView({ block: "start" });
      return;
    }
    return visit(next.at, true);
  }
  visit(hash.slice(1), false);
};

const visit = (name, filtered) => {
  if (!/^[a-z]-[0-9a-f]+$/.test(name)) return;
  const target = $(name);
  const id = name.slice(2);
  const card = name.startsWith("f-") ? byFingerprint.get(id) : cardOf.get(target?.closest(".card"));
  if (name.startsWith("r-") && target) {
    $("rules").open = true;
    target.scrollIntoView({ block: "start" });
    return;
  }
  if (!card) return;
  reveal(card);
  for (let at = target; at && at !== card.element; at = at.parentElement) if (at.localName === "details") at.open = true;
  const evidence = card.element.querySelector(".evidence");
  if (evidence) evidence.open = true;
  select(card, filtered || card.id !== id);
  if (target !== card.element) target?.scrollIntoView({ block: "center" });
};

const toggleEvidence = (card) => {
  const evidence = card.element.querySelector(".evidence");
  if (evidence) evidence.open = !evidence.open;
};

const toggleRule = (card, key = card.rule) => {
  const evidence = card.element.querySelector(".evidence");
  const page = $(`r-${key}`)?.querySelector(".page");
  if (!evidence || !page) return false;
  const there = evidence.querySelector(".page");
  const same = there?.dataset.rule === key && evidence.open;
  there?.remove();
  if (!same) {
    const copy = page.cloneNode(true);
    copy.dataset.rule = key;
    evidence.append(copy);
    evidence.open = true;
  }
  return true;
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
  node.nodeName === "CODE" ? code(node.textContent) : node.nodeType === Node.TEXT_NODE || node.className === "effect" ? (node.className === "effect" ? told(node) : markdown(node.textContent)) : "",
).join("").replace(/\s+/g, " ").trim();
const indented = (text, by) => text.trim().split(/\r?\n/).join(`\n${" ".repeat(by)}`);


// The space before an effect that begins with a colon is its own.
const sentence = (card) => told(card.element.querySelector(".sentence")).replace(/ : /, ": ");

const line = (card) => {
  const { element } = card;
  const where = textOf(element.querySelector(".subject"));
  return `- **${markdown(textOf(element.querySelector(".tag")))}** ${sentence(card)} · ${markdown(where)} · ${code(textOf(element.querySelector(".rule")))}`;
};

const item = (card) => {
  const entry = state.decisions[card.id];
  const out = [`${line(card)} <!-- f-${card.id} -->`, `  - Decision: ${WORDS[entry?.decision] || ""}`.trimEnd()];
  if (entry?.note) out.push(`  - Note: ${indented(entry.note, 4)}`);
  return out;
};

const minutes = () => {
  const out = [`# ${markdown(textOf(document.querySelector("h1")).replace(/\s+/g, " "))}`, ""];
  for (const side of all(".sides > div")) {
    const [version, commit] = [side.querySelector(".version"), side.querySelector(".commit")];
    out.push(`- ${textOf(side.querySelector("h2"))}: ${code(textOf(side.querySelector(".source")))}${version ? ` (${markdown(textOf(version))})` : ""}${commit ? ` at ${code(textOf(commit))}` : ""}`);
  }
  out.push(`- Policy: ${code(textOf(document.querySelector(".policy")))}`);
  out.push(`- Found: ${markdown(textOf(document.querySelector(".counts")))}`);
  const next = textOf(document.querySelector(".next-text"));
  if (next) out.push(`- Next version: ${markdown(next)}`);
  const decided = cards.filter((card) => state.decisions[card.id]);
  const counts = Object.entries(WORDS).map(([word, label]) => `${decided.filter((card) => decisionOf(card) === word).length} ${label}`);
  out.push("", "## Decisions", "", `${counts.join(", ")}, ${open.filter((card) => !decisionOf(card)).length} without a decision.`, "");
  for (const card of decided) out.push(...item(card));
  const left = open.filter((card) => !state.decisions[card.id]);
  const breaks = left.filter((card) => card.part.element.id === "p-breaking");
  if (breaks.length) out.push("", "## Open breaking changes", "");
  for (const card of breaks) out.push(...item(card));
  const rest = left.length - breaks.length;
  if (rest) out.push("", `Not discussed: ${rest} other ${rest === 1 ? "finding" : "findings"}.`);
  if (document.querySelector(".checklist")) out.push("", "## Checklist", "");
  for (const [index, question] of all(".checklist > ol > li").entries()) {
    out.push(`${index + 1}. ${textOf(question.querySelector("h3"))} ${markdown(textOf(question.querySelector(".answer")))}`);
  }
  out.push("", "## Contributor", "");
  for (const [name, label] of Object.entries(FIELDS)) out.push(`- ${label}: ${indented(state.fields[name] || "", 2)}`.trimEnd());
  return `${out.join("\n").replace(/\n{3,}/g, "\n\n")}\n`;
};

// A JSON string is a YAML string once what YAML can't print is escaped, too.
const quoted = (text) => JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]/g, (c) =>
  /[\ud800-\udfff]/.test(c) ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

const waived = () => cards.filter((card) => decisionOf(card) === "accept" && card.status === "new" && card.severity !== "info");

const waivers = () => {
  const out = ["# From the decisions of an API review. Add these to the waivers of crdwise.yaml.", "waivers:"];
  for (const card of waived()) {
    out.push(`  # f-${card.id}`);
    const reason = (state.decisions[card.id].note || "accepted in the API review").trim().replace(/\s+/g, " ");
    const link = /https?:\/\/[^\s<>()"'`]+/.exec(state.fields.links || "")?.[0];
    const rule = textOf(card.element.querySelector(".rule"));
    const { fingerprint } = card.element.dataset;
    // A change is accepted as it is, wherever it was made; what else is wrong, place by place.
    const places = fingerprint ? [[["fingerprint", fingerprint]]] : all(".place", card.element).map((place) =>
      ["crd", "version", "path"].map((part) => [part, textOf(place.querySelector(`.p-${part}`))]));
    for (const place of places) {
      const pairs = [["rule", rule], ...place, ["reason", reason], ["link", link]];
      out.push(...pairs.filter(([, value]) => value).map(([key, value], index) => `  ${index ? " " : "-"} ${key}: ${quoted(value)}`));
    }
  }
  return `${out.join("\n")}\n`;
};

// Minutes as this page or `--format minutes` writes them, filled in by whomever, or waivers as this page writes them.
const take = (text) => {
  let [known, unknown, id, note, field, pending, fields] = [0, 0, null, null, null, "", 0];
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
      if (named[2]) {
        field = fieldOf[named[1].toLowerCase()];
        state.fields[field] = named[2];
        fields += 1;
      }
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
    const same = !entry.row.startsWith("-") || entry.row.includes(sentence(card));
    adopt(key, entry.decision, entry.note, same ? messageOf(card) : "");
    known += 1;
  }
  for (const card of cards) paint(card);
  showFields();
  save();
  apply();
  const about = unknown ? `${unknown} ${unknown === 1 ? "decision is" : "decisions are"} about changes that this page doesn't have.` : "";
  if (known || fields) return { text: `${known} ${known === 1 ? "decision" : "decisions"} imported. ${about}`.trim(), failed: false };
  return { text: about ? `Nothing was imported: ${about}` : "Nothing was imported: the text has no decision. Expected are minutes or waivers of such a page.", failed: true };
};

const exchange = (mode) => {
  const taking = mode === "import";
  $("exchange-title").textContent = { minutes: "Minutes", waivers: "Waivers", import: "Import" }[mode];
  $("exchange-note").textContent = {
    minutes: "Decisions, notes and the contributor's part as Markdown. Import takes it back.",
    waivers: waived().length ? "For each accepted error or warning, to be added to crdwise.yaml." : "Accept an error or a warning to get a waiver for it.",
    import: "Minutes or waivers that were exported from such a page, or minutes filled in by hand.",
  }[mode];
  $("exchange-text").value = { minutes, waivers, import: () => "" }[mode]();
  $("exchange-text").readOnly = !taking;
  showResult("", false);
  $("exchange-file").value = "";
  for (const id of ["exchange-copy", "exchange-save"]) $(id).hidden = taking;
  for (const id of ["exchange-take", "exchange-file-row"]) $(id).hidden = !taking;
  $("exchange").dataset.mode = mode;
  $("exchange").showModal();
};

const showResult = (text, failed) => {
  $("exchange-result").textContent = text;
  $("exchange-result").className = failed ? "failed" : "";
};

const saveFile = () => {
  const address = URL.createObjectURL(new Blob([$("exchange-text").value], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = $("exchange").dataset.mode === "minutes" ? "review.md" : "waivers.yaml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};

const toClipboard = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return document.execCommand("copy");
  }
};

const copy = async () => {
  $("exchange-text").select();
  showResult((await toClipboard($("exchange-text").value)) ? "Copied." : "Selected: copy it with the keyboard.", false);
};

const copyDraft = async (button) => {
  const draft = button.parentElement.querySelector("pre");
  getSelection().selectAllChildren(draft);
  button.textContent = (await toClipboard(draft.textContent)) ? "Copied" : "Selected";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
};

const showFields = () => {
  for (const area of document.querySelectorAll("[data-field]")) area.value = state.fields[area.dataset.field] || "";
};

// ---- events

const inside = (event) => cardOf.get(event.target.closest?.(".card"));
const plain = (event) => !event.ctrlKey && !event.metaKey && !event.shiftKey;

$("changes").addEventListener("click", (event) => {
  const all = event.target.closest(".accept-all");
  if (all) return acceptAll(partOf.get(all.closest(".part")));
  const card = inside(event);
  if (!card) return;
  const draft = event.target.closest(".copy");
  if (draft) return copyDraft(draft);
  const button = event.target.closest(".decide button");
  if (button) return decide(card, button.value);
  const link = event.target.closest("a.rule");
  if (link && plain(event) && toggleRule(card, link.hash.slice(3))) event.preventDefault();
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
  if (card && card !== current) mark(card);
});
// A second click on the link to where one is goes there again.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  if (link && reviewing && plain(event) && !event.defaultPrevented && link.hash === location.hash) follow();
});
if (reviewing) {
  $("filter-text").addEventListener("input", () => {
    const query = $("filter-text").value;
    by = { ...by, query, words: query.toLowerCase().split(/\s+/).filter(Boolean) };
    apply();
    try {
      history.replaceState(null, "", address(by));
    } catch {
      // A frame without a place of its own.
    }
  });
  $("next-open").addEventListener("click", toOpen);
  $("export-minutes").addEventListener("click", () => exchange("minutes"));
  $("export-waivers").addEventListener("click", () => exchange("waivers"));
  $("import").addEventListener("click", () => exchange("import"));
  $("open-help").addEventListener("click", () => $("help").showModal());
  window.addEventListener("hashchange", follow);
}
for (const area of all("[data-field]")) {
  area.addEventListener("input", () => {
    state.fields[area.dataset.field] = area.value;
    save();
  });
}
$("exchange-copy").addEventListener("click", copy);
$("exchange-save").addEventListener("click", saveFile);
$("exchange-take").addEventListener("click", () => {
  const { text, failed } = take($("exchange-text").value);
  showResult(text, failed);
});
$("exchange-file").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  if (file) $("exchange-text").value = await file.text();
});
$("keys-on").addEventListener("change", (event) => { state.keys = event.target.checked; save(); });
for (const button of all("dialog [data-close]")) button.addEventListener("click", () => button.closest("dialog").close());

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  J: () => stepCrd(1),
  K: () => stepCrd(-1),
  u: toOpen,
  o: () => current && toggleEvidence(current),
  r: () => current && toggleRule(current),
  a: () => current && hydrate(current) && decide(current, "accept"),
  w: () => current && hydrate(current) && decide(current, "needs-work"),
  q: () => current && hydrate(current) && decide(current, "question"),
  z: undo,
  n: () => current && hydrate(current)?.querySelector("textarea").focus(),
  t: () => scrollTo(0, 0),
  "/": () => { $("panel").open = true; $("filter-text").focus(); },
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
  if (!reviewing || !state.keys || target.matches("textarea, select, input:not([type=checkbox])") || !Object.hasOwn(KEYS, key)) return;
  event.preventDefault();
  KEYS[key]();
});
window.addEventListener("beforeunload", (event) => {
  if (!stored && Object.keys(state.decisions).length) event.preventDefault();
});

// On paper the breaks are open; style does it where it can.
if (!CSS.supports("selector(::details-content)")) {
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = all("#p-breaking .evidence:not([open])");
    for (const evidence of opened) evidence.open = true;
  });
  window.addEventListener("afterprint", () => { for (const evidence of opened) evidence.open = false; });
}

load();
$("keys-on").checked = state.keys;
showFields();
showKept();
for (const card of cards) paint(card);
root.classList.add("js");
if (!reviewing) return;
// Beside the cards where there is room, above them and closed where there isn't.
if (!matchMedia("(min-width: 100rem)").matches) $("panel").open = false;
apply();
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
