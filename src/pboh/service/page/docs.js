// The reference: the service's OpenAPI description as a page one can read and try.

import { $, ask, button, make } from "./dom.js";

const named = (api, schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema);

// A schema in one line, as people write types.
function type(api, schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((s) => type(api, s)).join(" | ");
  if (schema.type === "array") return `${type(api, schema.items) || "…"}[]`;
  return schema.type ?? "any";
}

// A description, with ``names`` set as code.
const prose = (text) => text.split(/`+/).map((part, k) => (k % 2 ? make("code", { textContent: part }) : part));

const typed = (api, schema, description) => make("dd", {},
  make("code", { className: "type", textContent: type(api, schema) }), " ", ...prose(description ?? ""));

function fieldsOf(api, schema) {
  const shape = named(api, schema);
  if (!shape?.properties) return null;
  return make("dl", { className: "fields" }, ...Object.entries(shape.properties).map(([name, field]) => make("div", {},
    make("dt", {}, make("code", { textContent: name }), shape.required?.includes(name) ? "" : " ?"),
    typed(api, field, named(api, field)?.description))));
}

function tryOut(path, method, operation, api) {
  const [kind, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const example = content?.example;
  const address = make("input", { type: "search", value: path, "aria-label": "Address" });
  const value = example ? JSON.stringify(example, null, 2) : "";
  const body = kind ? make("textarea", { rows: 5, value, "aria-label": "Body" }) : null;
  const output = make("pre", { hidden: true });
  const send = async () => {
    const headers = kind ? { "content-type": kind } : {};
    const response = await fetch(address.value, { method, body: body?.value, headers });
    const text = await response.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON */ }
    output.textContent = `${response.status} ${response.statusText}\n\n${shown.slice(0, 20000)}`;
    output.hidden = false;
  };
  return make("details", { className: "try" }, make("summary", { textContent: "Try it" }),
    make("div", { className: "row" }, address, button("Send", send, { className: "primary" })), body, output);
}

function operationOf(api, { path, method, operation }) {
  const content = Object.values(operation.requestBody?.content ?? {})[0];
  const answer = Object.values(operation.responses["200"]?.content ?? {})[0];
  const parameters = (operation.parameters ?? []).map((p) => make("div", {},
    make("dt", {}, make("code", { textContent: p.name })), typed(api, p.schema, p.description)));
  const part = (title, fields) => (fields ? make("div", {}, make("h3", { textContent: title }), fields) : null);
  const body = (title, given) => part(`${title}: ${type(api, given?.schema)}`, fieldsOf(api, given?.schema));
  const said = prose(operation.description ?? operation.summary ?? "");
  return make("details", { className: "operation" },
    make("summary", {}, make("b", { className: `method ${method.toLowerCase()}`, textContent: method }),
      make("code", { textContent: path }), make("span", {}, ...said)),
    parameters.length ? part("Parameters", make("dl", { className: "fields" }, ...parameters)) : null,
    body("Request", content), body("Answer", answer), tryOut(path, method, operation, api));
}

function show(api) {
  $("summary").textContent = `${api.info.title} ${api.info.version}: ${api.info.summary}`;
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? "other";
      groups.set(tag, [...(groups.get(tag) ?? []), { path, method: method.toUpperCase(), operation }]);
    }
  }
  for (const [tag, list] of groups) {
    const head = make("div", { className: "card-head" }, make("h2", { textContent: tag }));
    $("docs").append(make("section", { className: "card" }, head, ...list.map((one) => operationOf(api, one))));
  }
}

ask("/openapi.json").then(show, (error) => { $("summary").textContent = error.message; });
