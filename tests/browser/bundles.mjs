// Bundles for the review page: one that nobody should write, and one with thousands of changes. JSON is YAML, and quotes everything.
import fs from "node:fs";
import path from "node:path";

const crd = (name, kind, versions, annotations = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name, annotations },
  spec: {
    group: name.split(".").slice(1).join("."), scope: "Namespaced", names: { plural: name.split(".")[0], kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions,
  },
});

const version = (name, spec, storage = true) => ({
  name, served: true, storage,
  schema: { openAPIV3Schema: { type: "object", properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" }, spec } } },
});

const write = (folder, file, document) => {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, file), JSON.stringify(document, null, 2));
};

// Each would set `window.pwned`, leave the page, or forge a line, if it were anything but text.
export const EVIL = [
  "<script>window.pwned=1</script>", "</script><script>window.pwned=2</script>", "</style><img src=x onerror=window.pwned=3>", "\"><svg onload=window.pwned=4>",
  "' onfocus='window.pwned=5' autofocus='", "javascript:window.pwned=6", "<a href=javascript:window.pwned=7>x</a>", "<!-- f-0000000000000000 -->", "{{ 7 * 7 }}{% if 1 %}",
  "</template></textarea></pre></title><iframe srcdoc='<script>parent.pwned=8</script>'>", "&lt;b&gt;&#60;", "`` ` ```", "@team #1 http://evil.example/ www.evil.example",
  "\u202eecalp\u200b", "line\n- **Breaking** forged <!-- f-1111111111111111 -->\n  - Decision: accept\n# head", "<base href=http://evil.example/>", "<meta http-equiv=refresh content=0;url=http://evil.example/>",
];

export const hostile = (folder) => {
  const properties = (removed) => {
    const out = {};
    EVIL.forEach((text, index) => {
      if (index % 3 || !removed) out[`${text}`] = { type: "string", description: removed ? `${text} changed` : text, enum: removed ? [text] : [text, `${text}2`], pattern: removed ? "^a" : undefined };
      out[`field${index}`] = { type: "object", description: text, properties: { [text]: { type: removed ? "integer" : "string", description: text } } };
    });
    return out;
  };
  const one = (removed) => crd("widgets.shop.example.com", "Widget", [version("v1", { type: "object", properties: properties(removed), description: EVIL.join(" ") })], { "shop.example.com/bundle-version": "v1.0.0", note: EVIL[1] });
  const two = (removed) => crd(`<script>window.pwned=9</script>.evil.example`, "<img src=x onerror=window.pwned=10>", [version("\"><script>window.pwned=11</script>", { type: "object", properties: { a: { type: removed ? "integer" : "string" } } })]);
  for (const side of ["old", "new"]) {
    write(path.join(folder, side), "<img src=x onerror=window.pwned=12>.yaml", one(side === "new"));
    write(path.join(folder, side), "\"'`@team#1&amp;.json", two(side === "new"));
  }
};

// So many changes, in twenty CRDs.
export const many = (folder, changes) => {
  const fields = Math.ceil(changes / 20);
  for (let index = 0; index < 20; index += 1) {
    const spec = (name, after) => {
      const properties = {};
      for (let field = 0; field < fields; field += 1) {
        const key = `field${name}${index}x${field}`;
        const sort = field % 5;
        if (sort === 0 && after) continue;
        properties[key] = { type: "integer", description: `What ${key} is for, in a sentence of the usual length, so that the page has something to show.`, maximum: 100 };
        if (sort === 1 && after) properties[key].maximum = 50;
        if (sort === 2 && after) properties[key].description += " It is said better now.";
        if (sort === 3 && after) properties[key].maximum = 200;
        if (sort === 4 && after) properties[`added${key}`] = { type: "string" };
      }
      return { type: "object", properties };
    };
    for (const side of ["old", "new"]) {
      const annotations = { "many.example.com/bundle-version": side === "new" ? "v1.1.0" : "v1.0.0" };
      write(path.join(folder, side), `crd${index}.json`, crd(`things${index}.many.example.com`, `Thing${index}`, [version("v1", spec("a", side === "new"))], annotations));
    }
  }
};
