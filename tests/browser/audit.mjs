// Questions about a page, asked inside the browser. Each answers with a list of what is wrong.

// Text that has less contrast with its ground than WCAG AA asks for.
export const contrast = () => {
  const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = [r, g, b].map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = parse(getComputedStyle(at).backgroundColor);
      if (alpha > 0.99) return [r, g, b];
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
  };
  const wrong = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest("script, style, template, .unseen, .skip") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(parse(style.color)), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) wrong.add(`${element.localName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return [...wrong];
};

// What a screen reader would stumble over.
export const structure = () => {
  const wrong = [];
  const named = (element) => element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") || element.labels?.length || element.closest("label") || element.textContent.trim();
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (heading.closest("dialog")) continue;
    const next = Number(heading.localName[1]);
    if (next > level + 1) wrong.push(`h${level} is followed by h${next}: ${heading.textContent.slice(0, 40)}`);
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  for (const landmark of ["header", "main", "[role=status]", "a.skip", ...(document.querySelector("aside") ? ["nav", "[role=search]", "[role=status][aria-live=polite]"] : [])]) {
    if (!document.querySelector(landmark)) wrong.push(`no ${landmark}`);
  }
  for (const control of document.querySelectorAll("input, select, textarea, button, nav, aside, [role=toolbar], [role=group], dialog")) {
    if (!named(control)) wrong.push(`${control.localName}#${control.id} has no name`);
  }
  const ids = new Set();
  for (const element of document.querySelectorAll("[id]")) {
    if (ids.has(element.id)) wrong.push(`#${element.id} twice`);
    ids.add(element.id);
  }
  for (const element of document.querySelectorAll("[aria-labelledby]")) {
    if (!document.getElementById(element.getAttribute("aria-labelledby"))) wrong.push(`aria-labelledby of ${element.localName} leads nowhere`);
  }
  for (const link of document.querySelectorAll("a[href^='#']")) {
    const name = link.getAttribute("href").slice(1);
    // Addresses with an equals sign are filters.
    if (name !== "all" && !name.includes("=") && !document.getElementById(name)) wrong.push(`${link.getAttribute("href")} leads nowhere`);
  }
  if (document.querySelector("[tabindex]:not([tabindex='-1'])")) wrong.push("the order of focus is not that of the page");
  return wrong;
};

// Whether anything hangs out of the window on the right.
export const overflow = () => {
  const width = document.documentElement.clientWidth;
  return document.scrollingElement.scrollWidth > width ? [`${document.scrollingElement.scrollWidth} wide in a window of ${width}`] : [];
};

// What axe finds, whatever its weight.
export const accessible = async () => {
  const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message || ""}`).join(" | ")}`);
};
