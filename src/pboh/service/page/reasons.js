// What speaks for a candidate and against it: the terms of its score as bars, and each word and neighbour.

import { make, signed } from "./dom.js";

const TERMS = [["prior", "name"], ["words", "words"], ["coreference", "longer name"], ["neighbours", "neighbours"]];
const sum = (terms) => terms.reduce((total, term) => total + term.value, 0);
const values = (e) => ({ prior: e.prior, words: e.context, coreference: e.coreference, neighbours: sum(e.neighbours) });

// Bars to the right of the middle speak for the candidate, compared with the average one.
export function reasons(explained, all) {
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
    const said = `${label} ${signed(value)} against the average candidate`;
    box.append(make("span", { className: "label", textContent: label }),
      make("div", { className: `reason ${term}`, role: "img", "aria-label": said }, bar),
      make("span", { className: "value", textContent: signed(value) }));
  }
  return box;
}

export function details(e, actions) {
  const part = (title, body) => make("div", {}, make("h3", { textContent: title }), body);
  const neighbours = [...e.neighbours].sort((a, b) => b.value - a.value);
  const page = { href: e.url, target: "_blank", rel: "noreferrer", "data-key": "page", textContent: "Its page ↗" };
  return make("div", { className: "details" },
    make("p", { className: "sum", textContent: `name ${signed(e.prior)}, words ${signed(e.context)}`
      + (e.coreference ? `, longer name ${signed(e.coreference)}` : "")
      + `, neighbours ${signed(sum(e.neighbours))} = ${signed(e.score)}` }),
    e.words.length ? part("Words around it", terms(e.words)) : null,
    neighbours.length ? part("Neighbours", terms(neighbours, actions.choose)) : null,
    e.url ? make("p", {}, make("a", page)) : null);
}

function terms(list, press) {
  return make("div", { className: "terms" }, ...list.slice(0, 14).map((t) => {
    const content = [make("b", { textContent: t.label }), ` ${signed(t.value)}`];
    const kind = `term ${t.value > 0 ? "plus" : "minus"}`;
    if (!press || t.mention === null) return make("span", { className: kind }, ...content);
    const pressed = { type: "button", className: kind, "data-key": `term ${t.mention}`, click: () => press(t.mention) };
    return make("button", pressed, ...content);
  }));
}
