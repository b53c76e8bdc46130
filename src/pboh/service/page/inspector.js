// Why a mention means what it means: its candidates, their probabilities, and what speaks for each.

import { $, about, button, make, percent, redraw, tint } from "./dom.js";
import { details, reasons } from "./reasons.js";
import { listed } from "./session.js";

const SHOWN = 4; // candidates whose reasons are always drawn; the others show theirs when opened

let finder = { span: "", form: null }; // outlives a redraw, so that reasons arriving late do not wipe what is typed

export function showInspector(state, actions) {
  const mention = state.mentions[state.chosen];
  if (!mention) {
    const hint = state.mentions.length ? "Choose a mention to see its candidates and what speaks for each."
      : "No mentions yet.";
    redraw($("inspector"), make("p", { className: "empty", textContent: hint }));
    return;
  }
  const surface = state.chars.slice(mention.start, mention.end).join("");
  const span = `${surface}@${mention.start}`;
  if (finder.span !== span) finder = { span, form: search(actions) };
  redraw($("inspector"), subject(mention, surface, state), spanTools(actions),
    candidates(mention, state, actions), finder.form);
}

// The name, what it was taken for, and how surely it is a name at all.
function subject(mention, surface, state) {
  const answer = mention.entity === null ? "unlinked" : percent(mention.probability);
  const verdict = mention.clamped ? "clamped by you" : answer;
  const least = state.threshold ?? state.info?.threshold;
  const found = mention.detection === null ? "Marked by you." : `Worth a link: ${percent(mention.detection)}`
    + (least === undefined ? "" : ` (shown from ${percent(least)})`);
  return make("div", { className: "subject" }, make("q", { textContent: surface }),
    make("span", { className: `tag ${tint(mention)}`, textContent: verdict, title: "How probable the answer is" }),
    make("span", { className: "detection", textContent: found, title: "How surely readers would link this name" }));
}

function spanTools(actions) {
  const arrow = (label, text, edge, way) => button(text, () => actions.resize(edge, way),
    { "aria-label": label, title: label, "data-key": `${edge}${way}` });
  return make("div", { className: "span-tools" },
    make("span", { className: "group" }, "start",
      arrow("Start one word earlier", "‹", "start", -1), arrow("Start one word later", "›", "start", 1)),
    make("span", { className: "group" }, "end",
      arrow("End one word earlier", "‹", "end", -1), arrow("End one word later", "›", "end", 1)),
    button("Remove", actions.remove, { id: "remove", "data-key": "remove" }));
}

function candidates(mention, state, actions) {
  const { candidates: entries, nil } = listed(mention);
  const rows = entries.map((entry, k) => candidate(mention, entry, k, state, actions));
  const after = entries.findIndex((entry) => entry.probability !== null && entry.probability < nil);
  if (entries.length && nil > 0) rows.splice(after < 0 ? rows.length : after, 0, unknown(mention, nil));
  if (!rows.length) return make("p", { className: "empty", textContent: "The model knows no entity by this name." });
  const before = make("p", { className: "before", textContent: "Probabilities before you clamped it:" });
  const bars = make("p", { className: "before",
    textContent: "Bars to the right speak for a candidate, compared with the average one." });
  return make("div", {}, mention.offered ? before : rows.length > 2 ? bars : null,
    make("ol", { className: "candidates" }, ...rows));
}

function candidate(mention, entry, k, state, actions) {
  const isAnswer = entry.entity === mention.entity;
  const open = state.open === entry.entity;
  const pinned = mention.clamped && isAnswer;
  const pin = button(pinned ? "Unclamp" : "Clamp", () => actions.clamp(pinned ? null : entry.entity), {
    className: "pin", "data-key": `pin ${entry.entity}`,
    "aria-label": pinned ? `Unclamp from ${entry.entity}` : `Clamp to ${entry.entity}` });
  const name = button(entry.entity, () => actions.open(open ? null : entry.entity), {
    className: "name", "data-key": `name ${entry.entity}`, title: about(entry) || "Show the terms",
    "aria-expanded": String(open) });
  const row = make("li", { className: `candidate ${isAnswer ? `answer ${tint(mention)}` : ""}` },
    header(k < 9 ? k + 1 : "", name, entry.probability, pin), meter(entry.probability),
    about(entry) ? make("p", { className: "about", textContent: about(entry) }) : null);
  const explained = state.explanations?.find((e) => e.entity === entry.entity);
  if (explained && (k < SHOWN || isAnswer || open)) {
    row.append(reasons(explained, state.explanations));
    if (open) row.append(details(explained, actions));
  }
  return row;
}

// The row of what no candidate is.
function unknown(mention, nil) {
  const name = make("span", { className: "name", textContent: "not in the knowledge base" });
  return make("li", { className: `candidate unknown ${mention.entity === null ? "answer unlinked" : ""}` },
    header("", name, nil, null), meter(nil));
}

const header = (rank, name, probability, pin) => make("div", { className: "candidate-head" },
  make("span", { className: "rank", textContent: rank }), name,
  make("span", { className: "percent", textContent: probability === null ? "" : percent(probability) }), pin);

function meter(probability) {
  const filled = make("i");
  filled.style.width = `${100 * (probability ?? 0)}%`;
  return make("div", { className: "meter", "aria-hidden": "true" }, filled);
}

function search(actions) {
  const found = make("div", { className: "found", "aria-live": "polite" });
  const input = make("input", { type: "search", id: "wanted", "data-key": "wanted", maxLength: 300, autocomplete: "off",
    placeholder: "Title or name" });
  const take = (title) => {
    input.value = "";
    found.replaceChildren();
    actions.clamp(title);
  };
  const choice = (e) => button(e.title, () => take(e.title), {
    title: about(e) || `${e.links} links`, "data-key": `found ${e.title}` });
  const submit = async (event) => {
    event.preventDefault();
    const entities = await actions.search(input.value);
    if (entities === null) return;
    found.replaceChildren(...(entities.length ? entities.slice(0, 12).map(choice)
      : [make("span", { className: "sum", textContent: "Nothing is known by that name." })]));
  };
  return make("form", { className: "search", submit },
    make("label", { htmlFor: "wanted", textContent: "Clamp to another entity" }),
    make("div", { className: "row" }, input, button("Find", null, { type: "submit", "data-key": "find" })), found);
}
