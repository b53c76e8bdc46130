// Why a mention means what it means: its candidates, their probabilities, and the terms of their scores as bars.

import { $, make, percent, signed, tint } from "./dom.js";

const TERMS = [["prior", "name"], ["words", "words"], ["coreference", "longer name"], ["neighbours", "neighbours"]];

const SHOWN = 4; // candidates whose reasons are always drawn; the others show theirs when opened

let finder = { span: "", form: null }; // outlives a redraw, so that reasons arriving late do not wipe what is typed

export function showInspector(state, actions) {
  const mention = state.mentions[state.chosen];
  if (!mention) {
    const hint = state.mentions.length ? "Choose a mention to see its candidates and what speaks for each."
      : "No mentions yet.";
    $("inspector").replaceChildren(make("p", { className: "empty", textContent: hint }));
    return;
  }
  const surface = state.chars.slice(mention.start, mention.end).join("");
  const verdict = mention.clamped ? "clamped by you" : mention.entity === null ? "unlinked" : percent(mention.probability);
  const list = make("ol", { className: "candidates" });
  list.append(...mention.candidates.map((c, k) => candidate(mention, c, k, state, actions)));
  const span = `${surface}@${mention.start}`;
  if (finder.span !== span) finder = { span, form: search(actions) };
  const typing = finder.form.contains(document.activeElement) ? document.activeElement : null;
  $("inspector").replaceChildren(
    make("div", { className: "subject" }, make("q", { textContent: surface }),
      make("span", { className: `tag ${tint(mention)}`, textContent: verdict })),
    spanTools(mention, actions),
    mention.candidates.length ? list : make("p", { className: "empty", textContent: "The model knows no entity by this name." }),
    finder.form,
  );
  typing?.focus();
}

function spanTools(mention, actions) {
  const arrow = (label, text, edge, way) => make("button", {
    type: "button", textContent: text, "aria-label": label, title: label, click: () => actions.resize(edge, way) });
  return make("div", { className: "span-tools" },
    make("span", { className: "group" }, "start", arrow("Start one word earlier", "‹", "start", -1), arrow("Start one word later", "›", "start", 1)),
    make("span", { className: "group" }, "end", arrow("End one word earlier", "‹", "end", -1), arrow("End one word later", "›", "end", 1)),
    make("button", { type: "button", id: "remove", textContent: "Remove", click: actions.remove }),
    mention.clamped ? make("button", { type: "button", id: "free", textContent: "Unclamp", click: () => actions.clamp(null) }) : null);
}

function candidate(mention, entry, k, state, actions) {
  const isAnswer = entry.entity === mention.entity;
  const meter = make("i");
  meter.style.width = `${100 * entry.probability}%`;
  const pin = mention.clamped ? null : make("button", {
    type: "button", className: "pin", textContent: "Clamp", "aria-label": `Clamp to ${entry.entity}`,
    click: () => actions.clamp(entry.entity) });
  const open = state.open === entry.entity;
  const name = make("button", {
    type: "button", className: "name", textContent: entry.entity, "aria-expanded": String(open),
    title: "Show the terms", click: () => actions.open(open ? null : entry.entity) });
  const row = make("li", { className: `candidate ${isAnswer ? `answer ${tint(mention)}` : ""}` },
    make("header", {}, make("span", { className: "rank", textContent: k < 9 ? k + 1 : "" }), name,
      make("span", { className: "percent", textContent: percent(entry.probability) }), pin),
    make("div", { className: "meter", role: "presentation" }, meter));
  const explained = state.explanations?.find((e) => e.entity === entry.entity);
  if (explained && (k < SHOWN || isAnswer || open)) {
    row.append(reasons(explained, state.explanations));
    if (open) row.append(details(explained, state, actions));
  }
  return row;
}

const sum = (terms) => terms.reduce((total, term) => total + term.value, 0);
const values = (e) => ({ prior: e.prior, words: e.context, coreference: e.coreference, neighbours: sum(e.neighbours) });

// Bars to the right of the middle speak for the candidate, compared with the average one.
function reasons(explained, all) {
  const table = all.map(values);
  const mean = (term) => (all.length > 1 ? table.reduce((t, v) => t + v[term], 0) / table.length : 0);
  const widest = Math.max(1e-6, ...table.flatMap((v) => TERMS.map(([term]) => Math.abs(v[term] - mean(term)))));
  const box = make("div", { className: "reasons" });
  for (const [term, label] of TERMS) {
    if (term === "coreference" && table.every((v) => v.coreference === 0)) continue;
    const value = values(explained)[term] - mean(term);
    const bar = make("i");
    const width = 50 * Math.min(1, Math.abs(value) / widest);
    bar.style.width = `${width}%`;
    bar.style.left = value < 0 ? `${50 - width}%` : "50%";
    box.append(make("span", { className: "label", textContent: label }),
      make("div", { className: `reason ${term}`, role: "img", "aria-label": `${label} ${signed(value)} against the average candidate` }, bar),
      make("span", { className: "value", textContent: signed(value) }));
  }
  return box;
}

function details(e, state, actions) {
  const terms = (list, press) => make("div", { className: "terms" }, ...list.slice(0, 14).map((t) => {
    const content = [make("b", { textContent: t.label }), ` ${signed(t.value)}`];
    const kind = `term ${t.value > 0 ? "plus" : "minus"}`;
    return press && t.mention !== null ? make("button", { type: "button", className: kind, click: () => press(t.mention) }, ...content)
      : make("span", { className: kind }, ...content);
  }));
  const part = (title, body) => make("div", {}, make("h3", { textContent: title }), body);
  const neighbours = [...e.neighbours].sort((a, b) => b.value - a.value);
  const address = `https://${state.info?.language ?? "en"}.wikipedia.org/wiki/${encodeURIComponent(e.entity.replaceAll(" ", "_"))}`;
  return make("div", { className: "details" },
    make("p", { className: "sum", textContent: `name ${signed(e.prior)}, words ${signed(e.context)}`
      + (e.coreference ? `, longer name ${signed(e.coreference)}` : "")
      + `, neighbours ${signed(sum(e.neighbours))} = ${signed(e.score)}` }),
    e.words.length ? part("Words around it", terms(e.words)) : null,
    neighbours.length ? part("Neighbours", terms(neighbours, actions.choose)) : null,
    make("p", {}, make("a", { href: address, target: "_blank", rel: "noreferrer", textContent: "Wikipedia ↗" })));
}

function search(actions) {
  const found = make("div", { className: "found" });
  const input = make("input", { type: "search", id: "wanted", maxLength: 300, autocomplete: "off", placeholder: "Title or name" });
  const form = make("form", { className: "search", submit: async (event) => {
    event.preventDefault();
    const entities = await actions.search(input.value);
    if (entities === null) return;
    found.replaceChildren(...(entities.length ? entities.slice(0, 12).map((e) => make("button", {
      type: "button", textContent: e.title, title: `${e.links} links`, click: () => {
        input.value = "";
        found.replaceChildren();
        actions.clamp(e.title);
      } }))
      : [make("span", { className: "sum", textContent: "Nothing is known by that name." })]));
  } }, make("label", { htmlFor: "wanted", textContent: "Clamp to another entity" }),
  make("div", { className: "row" }, input, make("button", { type: "submit", textContent: "Find" })), found);
  return form;
}
