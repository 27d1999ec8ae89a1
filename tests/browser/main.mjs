// Opens review pages in a real browser, as people do: node main.mjs CRDWISE FOLDER-WITH-PLAYWRIGHT CHROMIUM
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { accessible, contrast, overflow, structure } from "./audit.mjs";
import { EVIL, hostile, many } from "./bundles.mjs";

const [program, tools, executablePath] = process.argv.slice(2);
const { chromium } = createRequire(path.join(tools, "package.json"))("playwright-core");
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "crdwise-browser-"));
const repository = path.resolve(import.meta.dirname, "../..");

// ---- pages

const crdwise = (cwd, ...words) => {
  try {
    return execFileSync(program, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
  } catch (error) {
    // Findings end a run with 1.
    if (error.status !== 1) throw error;
    return error.stdout;
  }
};
const made = (name, cwd, ...words) => {
  const file = path.join(scratch, `${name}.html`);
  crdwise(cwd, ...words, "--format", `html=${file}`);
  return pathToFileURL(file).href;
};
const demo = path.join(repository, "testdata/demo");
hostile(path.join(scratch, "hostile"));
many(path.join(scratch, "many"), 2000);
const pages = {
  demo: made("demo", demo, "review", "old", "new"),
  lint: made("lint", demo, "lint", "new"),
  same: made("same", demo, "review", "old", "old"),
  hostile: made("hostile", path.join(scratch, "hostile"), "review", "old", "new"),
  many: made("many", path.join(scratch, "many"), "review", "old", "new"),
};

// ---- harness

const browser = await chromium.launch({
  executablePath,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let passed = 0;
const failures = [];

// A page on which every message, dialog and request is a failure.
const opened = async (address, options = {}) => {
  const { before, noisy, ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...rest });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { said.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(address) && !request.url().startsWith("blob:")) said.push(`request: ${request.url()}`); });
  page.on("popup", (popup) => said.push(`window: ${popup.url()}`));
  if (before) await context.addInitScript(typeof before === "string" ? { content: before } : before);
  await page.goto(address);
  return { page, said: noisy ? [] : said, context };
};

const test = async (name, address, run, options) => {
  const started = Date.now();
  const { page, said, context } = await opened(address, options);
  try {
    await run(page, context);
    assert.deepEqual(said, [], "the page was not quiet");
    passed += 1;
    console.log(`ok    ${name} (${Date.now() - started} ms)`);
  } catch (error) {
    failures.push(name);
    console.log(`FAIL  ${name}\n${error.stack}\n${said.join("\n")}`);
  }
  await context.close();
};

const shown = (page) => page.$$eval("article.card", (cards) => cards.filter((card) => card.checkVisibility()).map((card) => ({ ...card.dataset, id: card.id })));
const current = (page) => page.$eval("[aria-current]", (card) => card.id).catch(() => null);
const press = async (page, keys) => { for (const key of keys) await page.keyboard.press(key); };
// Follows the link of a chip.
const pick = async (page, facet, value) => {
  await page.$eval("#panel", (panel) => { panel.open = true; });
  await page.click(`[data-facet=${facet}] [data-value="${value}"]`);
};
const number = async (page, facet, value) => Number(await page.textContent(`[data-facet=${facet}] [data-value="${value}"] b`));
const clear = (page) => page.click("#clear");
const exported = async (page, button) => {
  await page.click(button);
  const text = await page.inputValue("#exchange-text");
  await page.click("#exchange [data-close]");
  return text;
};
const imported = async (page, text) => {
  await page.click("#import");
  await page.fill("#exchange-text", text);
  await page.click("#exchange-take");
  const result = await page.textContent("#exchange-result");
  await page.click("#exchange [data-close]");
  return result;
};

// ---- what a reviewer does

await test("the first screen is the agenda", pages.demo, async (page) => {
  assert.equal(await page.textContent("h1 .verdict"), "Breaking");
  const strip = await page.locator(".strip").boundingBox();
  assert.ok(strip.y === 0 && strip.height < 150, "a slim strip on top");
  const { summary } = JSON.parse(crdwise(demo, "review", "old", "new", "--format", "json"));
  const said = `${summary.breaking.changes} breaking change${summary.breaking.changes === 1 ? "" : "s"} in ${summary.breaking.places} place`;
  assert.ok((await page.textContent(".counts")).startsWith(said), said);
  assert.match(await page.textContent(".next"), /minor/);
  const rows = await page.$$eval(".agenda li", (list) => list.map((row) => ({ of: row.dataset.of, href: row.querySelector("a").hash, harm: row.querySelector(".harm").textContent, where: row.querySelector(".where").textContent })));
  assert.equal(rows.length, summary.breaking.changes);
  assert.equal(await number(page, "class", "breaking"), summary.breaking.changes);
  for (const row of rows) assert.ok(row.href === `#f-${row.of}` && row.harm && row.where, JSON.stringify(row));
  const cards = await page.$$eval("#p-breaking .card", (list) => list.map((card) => card.id.slice(2)));
  assert.deepEqual(rows.map((row) => row.of), cards, "cards have the order of the agenda");
  const last = await page.locator(".agenda li").last().boundingBox();
  assert.ok(last.y + last.height < 800, "all of it without scrolling");
  await page.click(".agenda li:last-child a");
  assert.equal(await current(page), `f-${cards.at(-1)}`);
  assert.equal(await page.locator(".checklist > ol > li:visible").count(), 0, "the checklist is folded");
  await page.click(".checklist > summary");
  assert.equal(await page.locator(".checklist > ol > li:visible").count(), 3);
});
await test("evidence is what is in the files", pages.demo, async (page) => {
  const wrong = await page.$$eval(".card .diff", (list) => list.flatMap((diff) => {
    const text = diff.closest(".card").querySelector("h3").textContent;
    const head = diff.querySelector("thead").textContent;
    if (diff.classList.contains("new") && diff.querySelector("tbody").textContent.includes("−")) return [`${text}: removed on the new side`];
    if (/was removed/.test(text) && !/^Removed/.test(head)) return [`${text}: ${head}`];
    return [];
  }));
  assert.deepEqual(wrong, []);
  assert.ok((await page.locator(".diff.both mark").count()) > 0, "what differs is marked");
  const proof = page.locator(".proof").first();
  assert.ok((await proof.locator(".offending").count()) === 1 && (await proof.locator(".server").first().textContent()).length > 3, "the server's words are at the line");
});
await test("a bundle against itself is finished", pages.same, async (page) => {
  assert.match(await page.textContent("h1 .verdict"), /^Safe/);
  assert.ok(await page.isVisible(".finished"));
  assert.equal(await page.locator(".bar, aside").count(), 0, "nothing to filter");
  assert.deepEqual(await page.evaluate(structure), []);
});
await test("lint", pages.lint, async (page) => {
  assert.match(await page.textContent("h1"), /^CRD lint/);
  assert.deepEqual(await page.evaluate(structure), []);
});

await test("filters are links, and the counts follow them", pages.many, async (page) => {
  const all = await shown(page);
  const total = await page.locator("article.card").count();
  assert.ok(total >= 400, String(total));
  assert.equal(await page.locator("#p-documentation[open]").count(), 0, "documentation is folded");
  const breaks = await number(page, "class", "breaking");
  await pick(page, "class", "breaking");
  assert.match(page.url(), /#class=breaking$/);
  const breaking = await shown(page);
  assert.ok(breaking.length === breaks && breaks < all.length && breaking.every((card) => card.sort === "breaking"));
  assert.equal(await page.textContent("#count"), `${breaks} shown`);
  await pick(page, "class", "compatible");
  assert.match(page.url(), /#class=breaking,compatible$/, "two classes are both");
  const both = (await shown(page)).length;
  assert.ok(both > breaks);
  await page.reload();
  assert.equal((await shown(page)).length, both, "the address has the filters");
  await page.goBack();
  assert.equal((await shown(page)).length, breaks, "and so has the way back");
  const expected = await number(page, "affects", "data").catch(() => null);
  await pick(page, "affects", "data");
  const data = await shown(page);
  assert.ok(data.length > 0 && data.every((card) => card.affects.split(" ").includes("data") && card.sort === "breaking"), String(expected));
  await clear(page);
  assert.equal((await shown(page)).length, all.length);
  const cell = page.locator(".affects tbody td a").first();
  const promised = Number(await cell.textContent());
  await cell.click();
  assert.equal((await shown(page)).length, promised, "a number of the table shows so many");
  await clear(page);
  const link = page.locator("[data-facet=crd] a", { has: page.getByText("things7", { exact: true }) });
  assert.equal(await link.count(), 1, "without the group that all share");
  const promisedHere = Number(await link.locator("b").textContent());
  const chosen = await link.getAttribute("data-value");
  await link.click();
  const concerned = await shown(page);
  assert.ok(concerned.length > 0 && concerned.every((card) => card.crds.split(" ").includes(chosen)));
  assert.equal(concerned.length, promisedHere);
  await clear(page);
  await page.click("#panel details.facet > summary");
  const rule = page.locator("[data-facet=rule] a", { hasText: "field-removed" });
  const ofRule = Number(await rule.locator("b").textContent());
  await rule.click();
  assert.equal((await shown(page)).length, ofRule);
  await clear(page);
  await page.fill("#filter-text", "fielda3x REMOVED");
  assert.ok((await shown(page)).length > 0 && (await shown(page)).length <= ofRule);
  assert.match(page.url(), /text=fielda3x/);
  await page.fill("#filter-text", "nothing has this");
  assert.ok(await page.isVisible("#nothing"));
  await clear(page);
  await pick(page, "class", "documentation");
  assert.ok((await shown(page)).every((card) => card.sort === "documentation") && (await shown(page)).length > 0, "folded cards open for who asks");
});

await test("2,000 changes are filtered within two frames", pages.many, async (page) => {
  await page.waitForTimeout(600);
  const measure = (name, act) => page.evaluate(async ([name, act]) => {
    const times = [];
    for (let round = 0; round < 13; round += 1) {
      const began = performance.now();
      if (act === "link") {
        history.replaceState(null, "", round % 2 ? "#all" : name);
        dispatchEvent(new HashChangeEvent("hashchange"));
      } else {
        const element = document.getElementById(name);
        element.value = round % 2 ? "" : "removed";
        element.dispatchEvent(new Event("input", { bubbles: true }));
      }
      // What the browser has to do before it can paint.
      document.body.getBoundingClientRect();
      times.push(performance.now() - began);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }
    return times.slice(1).sort((a, b) => a - b);
  }, [name, act]);
  for (const [what, name, act] of [["class", "#class=breaking", "link"], ["text", "filter-text", "text"]]) {
    const times = await measure(name, act);
    console.log(`      ${what}: best ${times[0].toFixed(1)} ms, median ${times[6].toFixed(1)} ms`);
    // The best of many: other work on the machine makes the rest slower, the page doesn't.
    assert.ok(times[0] < 33.4, `${what}: ${times}`);
  }
});

await test("a deep link opens its card, folded and in a group, too", pages.demo, async (page) => {
  const folded = await page.$eval("details.part article.card", (card) => card.id);
  assert.ok(!(await page.isVisible(`#${folded}`)));
  await page.goto(`${pages.demo}#${folded}`);
  await page.waitForFunction((id) => document.getElementById(id).checkVisibility(), folded);
  assert.equal(await current(page), folded);
  await pick(page, "class", "compatible");
  const breaking = await page.$eval("article.card[data-sort=breaking]", (card) => card.id);
  await page.evaluate((id) => { location.hash = id; }, breaking);
  await page.waitForFunction((id) => document.getElementById(id).checkVisibility(), breaking);
  assert.ok(await page.isVisible(`#${breaking} .evidence .diff`));
  assert.ok(await page.$eval(`#${breaking}`, (card) => card.getBoundingClientRect().top >= 0 && card.getBoundingClientRect().top < innerHeight), "in sight");
});

await test("keys", pages.demo, async (page) => {
  const ids = (await shown(page)).map((card) => card.id);
  await press(page, "jj");
  assert.equal(await current(page), ids[1]);
  assert.equal(new URL(page.url()).hash, `#${ids[1]}`);
  await press(page, "k");
  assert.equal(await current(page), ids[0]);
  assert.equal(await page.evaluate(() => document.activeElement.id), ids[0], "focus moves along");
  const evidence = `#${ids[0]} .evidence`;
  const before = await page.$eval(evidence, (details) => details.open);
  await press(page, "o");
  assert.equal(await page.$eval(evidence, (details) => details.open), !before);
  await press(page, "r");
  assert.ok(await page.isVisible(`${evidence} .page`), "the rule's page inline");
  await press(page, "r");
  assert.equal(await page.locator(`${evidence} .page`).count(), 0);
  await press(page, "a");
  assert.equal(await page.getAttribute(`#${ids[0]} button[value=accept]`, "aria-pressed"), "true");
  assert.equal(await current(page), ids[1], "on to the next undecided");
  await press(page, "ka");
  assert.equal(await page.getAttribute(`#${ids[0]} button[value=accept]`, "aria-pressed"), "false");
  assert.equal(await current(page), ids[0], "taken back, one stays");
  await press(page, "wwz");
  assert.equal(await page.getAttribute(`#${ids[1]} button[value=needs-work]`, "aria-pressed"), "false", "the last decision is undone");
  assert.equal(await current(page), ids[1]);
  await press(page, "kn");
  await page.keyboard.type("jk? a note");
  await page.keyboard.press("Escape");
  assert.equal(await page.inputValue(`#${ids[0]} .decide textarea`), "jk? a note");
  assert.equal(await current(page), ids[0]);
  await press(page, "u");
  assert.equal(await current(page), ids[1], "the next without a decision");
  await press(page, "/");
  await page.keyboard.type("removed?");
  assert.equal(await page.inputValue("#filter-text"), "removed?", "letters are letters there");
  await page.keyboard.press("Escape");
  await press(page, "x");
  assert.equal(await page.inputValue("#filter-text"), "");
  await press(page, "?");
  assert.ok(await page.isVisible("#help"));
  await page.uncheck("#keys-on");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.isVisible("#help")));
  const here = await current(page);
  await press(page, "j");
  assert.equal(await current(page), here, "switched off");
});
await test("keys go from CRD to CRD", pages.many, async (page) => {
  const crds = () => page.$eval("article[aria-current]", (card) => card.dataset.crds);
  const single = await page.$eval('#p-breaking .card[data-crds]:not([data-crds*=" "])', (card) => card.id);
  await page.evaluate((id) => { location.hash = id; }, single);
  await page.waitForFunction((id) => document.getElementById(id).hasAttribute("aria-current"), single);
  const first = await crds();
  await press(page, "J");
  assert.ok(!(await crds()).includes(first));
});
await test("deciding leads through the review", pages.many, async (page) => {
  const open = Number(/of (\d+) decided/.exec(await page.textContent("#progress"))[1]);
  await press(page, "j");
  const first = await current(page);
  await press(page, "a");
  assert.equal(await page.textContent(`.agenda [data-of="${first.slice(2)}"] .state`), "accepted", "the agenda knows");
  const card = page.locator(`#${first}`);
  const crd = (await card.getAttribute("data-crds")).split(" ")[0];
  await page.$eval("#panel", (panel) => { panel.open = true; });
  assert.match(await page.textContent(`[data-facet=crd] [data-value="${crd}"] .done`), /^1 of \d+ decided$/, "progress of the CRD");
  const part = page.locator("#p-compatible");
  const compatible = await part.locator(".card").count();
  await part.locator(".accept-all").click();
  assert.equal(await page.textContent("#progress"), `${compatible + 1} of ${open} decided`, "a whole section at once");
  await pick(page, "decision", "none");
  assert.equal((await shown(page)).filter((card) => card.sort === "compatible").length, 0);
  const minutes = await exported(page, "#export-minutes");
  const [decided, left] = [minutes.indexOf("## Decisions"), minutes.indexOf("## Open breaking changes")];
  assert.ok(decided > 0 && left > decided, "what was decided comes first");
  assert.ok(minutes.indexOf(`<!-- ${first} -->`) < left && !minutes.slice(left).includes("Decision: accept"));
});

// ---- decisions

const NOTE = "Agreed with the operators.\nSee #12, @lead: `x` <b>\n  - Decision: question\n\nlast line";
let minutes = "";
let waivers = "";
await test("decisions and notes are kept, exported, and imported again", pages.demo, async (page) => {
  const ids = (await shown(page)).map((card) => card.id);
  await page.click(`#${ids[0]} button[value=accept]`);
  await page.fill(`#${ids[0]} .decide textarea`, NOTE);
  await page.locator(`#${ids[1]}`).scrollIntoViewIfNeeded();
  await page.click(`#${ids[1]} button[value=question]`);
  await page.click(".contributor summary");
  await page.fill("#field-why", "Trains are shorter.\nSo are bookings.");
  await page.fill("#field-links", "see https://tracker.example/42 for more");
  assert.match(await page.textContent("#progress"), /^2 of \d+ decided$/);
  const state = () => page.$$eval("article.card", (cards) => cards.map((card) => [card.id, card.querySelector(".decide [aria-pressed=true]")?.value || "", card.querySelector(".decide textarea")?.value || ""]).filter(([, decision]) => decision));
  const wanted = [[ids[0], "accept", NOTE], [ids[1], "question", ""]];
  await page.reload();
  assert.deepEqual(await state(), wanted, "kept");
  assert.equal(await page.inputValue("#field-why"), "Trains are shorter.\nSo are bookings.");

  minutes = await exported(page, "#export-minutes");
  assert.ok(minutes.includes(`<!-- ${ids[0]} -->\n  - Decision: accept\n  - Note: Agreed with the operators.\n    See #12, @lead`), minutes);
  assert.ok(minutes.includes("- Why: Trains are shorter.\n  So are bookings."), minutes);
  waivers = await exported(page, "#export-waivers");
  const message = await page.textContent(`#${ids[0]} .sentence`);
  assert.ok(waivers.includes(`  # ${ids[0]}\n  - rule: "${await page.textContent(`#${ids[0]} .rule`)}"\n    fingerprint: "${await page.getAttribute(`#${ids[0]}`, "data-fingerprint")}"\n`), waivers);
  assert.ok(waivers.includes("    link: \"https://tracker.example/42\"\n"), waivers);
  assert.ok(!waivers.includes(ids[1]), "a question is no waiver");

  await page.click("#export-minutes");
  const download = page.waitForEvent("download");
  await page.click("#exchange-save");
  assert.equal(fs.readFileSync(await (await download).path(), "utf8"), minutes);
  await page.click("#exchange [data-close]");

  const forget = async () => {
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    assert.deepEqual(await state(), []);
  };
  await forget();
  assert.equal(await imported(page, minutes), "2 decisions imported.");
  assert.deepEqual(await state(), wanted, "from minutes");
  assert.equal(await page.inputValue("#field-links"), "see https://tracker.example/42 for more");
  assert.equal(await exported(page, "#export-minutes"), minutes, "and out again");
  await forget();
  await page.click("#import");
  await page.setInputFiles("#exchange-file", { name: "w.yaml", mimeType: "text/yaml", buffer: Buffer.from(waivers) });
  await page.waitForFunction(() => document.getElementById("exchange-text").value);
  await page.click("#exchange-take");
  await page.click("#exchange [data-close]");
  assert.deepEqual((await state()).map(([id, decision]) => [id, decision]), [[ids[0], "accept"]], "from waivers");

  await forget();
  const template = crdwise(demo, "review", "old", "new", "--format", "minutes");
  const filled = template.replace("  - Decision:\n  - Note:\n", "  - Decision: Needs work\n  - Note: by hand\n    on two lines\n").replace("- Asked by:", "- Asked by: everybody");
  assert.equal(await imported(page, filled), "1 decision imported.");
  assert.deepEqual(await state(), [[ids[0], "needs-work", "by hand\non two lines"]], "from the template");
  assert.equal(await page.inputValue("#field-asked"), "everybody");
  assert.equal(await page.locator(".stale:visible").count(), 0, "the template says what the page says");

  const other = filled.replace(/- \*\*Breaking\*\* .*? ·/, "- **Breaking** `spec.x` was something else ·");
  await imported(page, other);
  assert.equal(await page.locator(".stale:visible").count(), 1, "decided on another text");
  assert.match(await imported(page, other.replaceAll(ids[0], "f-00000000000000aa").replace("- Asked by: everybody", "- Asked by:")), /^Nothing was imported: .* doesn't have/);
  assert.equal(await page.locator("#exchange-result.failed").count(), 1, "and that is an error");
  assert.ok(message.length > 0);
});
await test("a page that may keep nothing still works, and says so", pages.demo, async (page) => {
  await press(page, "ja?");
  assert.match(await page.textContent("#storage-note"), /keeps nothing/);
  await page.click("#help [data-close]");
  assert.match(await exported(page, "#export-minutes"), /Decision: accept/);
  await imported(page, "");
  await press(page, "a");
}, { before: () => Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } }) });
await test("rubbish in the storage and in an import is left alone", pages.demo, async (page) => {
  await page.evaluate(() => {
    const id = document.querySelector("article.card").id.slice(2);
    localStorage.setItem(`crdwise:${document.body.dataset.review}`, JSON.stringify({ decisions: { [id]: { decision: "__proto__", note: 5 }, toString: null, x: { decision: "accept" } }, fields: { why: {}, __proto__: 1 } }));
  });
  await page.reload();
  assert.equal(await page.locator("[aria-pressed=true]").count(), 0);
  assert.equal(await imported(page, "waivers:\n  # f-zz\n  - Decision: accept\n- <!-- f-1 -->\n\0\u2028".repeat(50)), "Nothing was imported: the text has no decision. Expected are minutes or waivers of such a page.");
});

// ---- safety

await test("hostile text is inert, on the page and in what it exports", pages.hostile, async (page) => {
  const text = await page.textContent("main");
  assert.ok(text.includes(EVIL[0]) && text.includes(EVIL[3]), "it is there to be read");
  assert.ok(!text.includes("\u202e") && !text.includes("\u200b"), "what hides is shown escaped");
  assert.equal(await page.locator("img, svg, iframe, base, link, object, embed, form, script:not(body > script:last-child), main style").count(), 0);
  await page.$$eval("details", (list) => list.forEach((details) => { details.open = true; }));
  for (const card of (await shown(page)).slice(0, 12)) {
    await page.evaluate((id) => { location.hash = id; }, card.id);
    await press(page, "ra");
  }
  await page.fill("#filter-text", "<script>");
  assert.ok((await shown(page)).length > 0);
  const minutes = await exported(page, "#export-minutes");
  for (const line of minutes.split("\n")) {
    assert.ok(/^($|# |## |### |- |  - Decision:|\d\. |\d+ accept|Not discussed: \d+ other)/.test(line), line);
    if (line.startsWith("- **")) assert.match(line, /<!-- f-[0-9a-f]{16} -->$/);
  }
  assert.ok(!/^- \*\*Breaking\*\* forged/m.test(minutes));
  await page.fill("#filter-text", "");
  const waivers = await exported(page, "#export-waivers");
  assert.ok(waivers.split("\n").length > 5);
  for (const line of waivers.split("\n")) assert.match(line, /^($|# From the decisions.*|waivers:|  # f-[0-9a-f]{16}|  [- ] (rule|fingerprint|crd|version|path|reason|link): "([^"\\]|\\.)*")$/);
  assert.match(await imported(page, minutes), /imported\.$/);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});
await test("the page's policy stops what is put into it", pages.demo, async (page) => {
  const refused = await page.evaluate(async () => {
    const found = [];
    document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
    const add = (name, set) => document.body.append(Object.assign(document.createElement(name), set));
    add("style", { textContent: "body { display: none }" });
    add("img", { src: "http://evil.example/x.png" });
    try { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); } catch { found.push("trusted types"); }
    try { await fetch("http://evil.example/"); } catch { found.push("fetch"); }
    await new Promise((resolve) => setTimeout(resolve, 100));
    return found;
  });
  for (const what of ["style-src-elem", "img-src", "trusted types", "fetch", "connect-src"]) assert.ok(refused.includes(what), `${what}: ${refused}`);
  assert.ok(await page.isVisible("h1"));
}, { noisy: true });

// ---- every reader

for (const name of ["demo", "lint", "same", "hostile"]) {
  for (const colorScheme of ["light", "dark"]) {
    await test(`${name}: contrast, ${colorScheme}`, pages[name], async (page) => {
      await press(page, "jaj");
      assert.deepEqual(await page.evaluate(contrast), []);
    }, { colorScheme });
  }
}
const axe = fs.readFileSync(createRequire(path.join(tools, "package.json")).resolve("axe-core/axe.min.js"), "utf8");
for (const name of ["demo", "lint", "same", "hostile"]) {
  for (const colorScheme of ["light", "dark"]) {
    await test(`${name}: axe finds nothing, ${colorScheme}`, pages[name], async (page) => {
      await page.$$eval("details", (list) => list.forEach((details) => { details.open = true; }));
      await press(page, "ja");
      assert.deepEqual(await page.evaluate(accessible), []);
      // What a keyboard opens is looked at, too.
      if (name === "demo") {
        await press(page, "m");
        assert.deepEqual(await page.evaluate(accessible), []);
      }
    }, { colorScheme, before: axe });
  }
}
for (const name of ["demo", "hostile", "many"]) {
  await test(`${name}: a phone, and what a screen reader needs`, pages[name], async (page) => {
    assert.deepEqual(await page.evaluate(overflow), []);
    await page.$$eval(".evidence, #panel, .strip details", (list) => list.slice(0, 50).forEach((details) => { details.open = true; }));
    assert.deepEqual(await page.evaluate(overflow), []);
    assert.deepEqual(await page.evaluate(structure), []);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  }, { viewport: { width: 360, height: 740 } });
}
await test("it reads without script", pages.demo, async (page) => {
  const visible = (selector) => page.locator(`${selector}:visible`).count();
  assert.equal(await visible(".needs-js"), 0);
  assert.ok((await visible("article.card")) > 0 && (await visible(".agenda li")) > 0);
  assert.equal(await visible("article.card[data-sort=documentation]"), 0);
  await page.click("#p-documentation > summary");
  assert.ok((await visible("article.card[data-sort=documentation]")) > 0, "what is folded opens");
  await page.locator(".evidence:not([open]) > summary:visible").first().click();
  await page.locator("a.rule:visible").first().click();
  assert.ok(await page.locator(".rule-page:target").isVisible());
}, { javaScriptEnabled: false });
await test("on paper: the summary, the breaks and the decisions", pages.demo, async (page) => {
  await press(page, "j");
  const compatible = page.locator("#p-compatible .card").first();
  await compatible.scrollIntoViewIfNeeded();
  await compatible.locator("button[value=accept]").click();
  await page.emulateMedia({ media: "print" });
  for (const gone of ["aside", ".bar", ".rules", "#p-documentation", ".places"]) assert.equal(await page.locator(`${gone}:visible`).count(), 0, gone);
  assert.ok((await page.locator(".agenda li:visible").count()) > 0);
  const closed = page.locator("#p-breaking .evidence .diff").last();
  assert.ok((await closed.boundingBox()).height > 20, "closed evidence is open on paper");
  assert.equal(await page.locator("#p-compatible .card:visible").count(), 1, "only what was decided");
  assert.deepEqual(await page.evaluate(contrast), []);
  const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
  const sheets = (pdf.match(/\/Type \/Page\b/g) || []).length;
  assert.ok(sheets >= 1 && sheets <= 4, `${sheets} pages`);
});
await test("its size is in proportion to the report", pages.many, async () => {
  for (const [name, cwd] of [["demo", demo], ["many", path.join(scratch, "many")], ["hostile", path.join(scratch, "hostile")]]) {
    const json = Buffer.byteLength(crdwise(cwd, "review", "old", "new", "--format", "json"));
    const page = fs.statSync(new URL(pages[name])).size;
    console.log(`      ${name}: ${page} bytes, report ${json}`);
    assert.ok(page <= 3 * json + 100_000, name);
  }
});

await browser.close();
fs.rmSync(scratch, { recursive: true, force: true });
if (failures.length) console.log(`failed: ${failures.join("; ")}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
