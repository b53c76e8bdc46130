// What the page knows: the text, its mentions and the last answer. Every change is solved anew by the service.

import { ask } from "./dom.js";
import { nextWord, wholeWords } from "./spans.js";

export const state = {
  chars: [], mentions: [], chosen: null, open: null, explanations: null, data: null, question: null, info: null, threshold: null,
  find: "names",
};
export const text = () => state.chars.join("");
export const canUndo = () => past.length > 0;
// The page sets these: something changed, the reasons of the chosen mention arrived, something went wrong.
export const on = { change() {}, reasons() {}, error() {} };

const past = [];
let latest = 0;

const NOTHING = { mentions: [], edges: [], rounds: [], converged: true, milliseconds: null };
const asked = (mentions) => mentions.map(
  ({ start, end, clamped, entity }) => (clamped ? { start, end, entity } : { start, end }));

// Solve a text with its mentions, or with those that are found (null). True when the answer is shown.
export async function solve(wanted, mentions, { chosen = null, open = null, remember = true } = {}) {
  const number = ++latest;
  document.body.setAttribute("aria-busy", "true");
  try {
    const found = { text: wanted, threshold: state.threshold, find: state.find };
    const body = mentions === null ? found : { text: wanted, mentions: asked(mentions) };
    const data = wanted.trim() ? await ask("/v1/graph", body) : NOTHING;
    if (number !== latest) return false; // a newer question is on its way
    if (remember && state.data) past.push({ text: text(), mentions: state.mentions });
    Object.assign(state, { chars: Array.from(wanted), data, question: body, explanations: null });
    state.mentions = carried(data.mentions, mentions);
    state.chosen = chosen !== null && chosen < data.mentions.length ? chosen : null;
    state.open = open;
    on.change();
    if (state.chosen !== null) await explain();
    return true;
  } catch (error) {
    if (number === latest) on.error(error.message);
    return false;
  } finally {
    if (number === latest) document.body.removeAttribute("aria-busy");
  }
}

// The service is given spans only: how surely a name was found, and what a clamped one could mean, is kept here.
function carried(answers, before) {
  if (before === null) return answers;
  const known = new Map(before.map((m) => [`${m.start}-${m.end}`, m]));
  return answers.map((answer) => {
    const old = known.get(`${answer.start}-${answer.end}`);
    return { ...answer, detection: old?.detection ?? null, offered: answer.clamped ? old?.offered : undefined };
  });
}

// What a mention can mean, in the order it is shown. Clamping keeps the other candidates in sight.
export function listed(mention) {
  const offered = mention.offered ?? mention;
  const { candidates, nil } = offered;
  if (!mention.clamped || candidates.some((entry) => entry.entity === mention.entity)) return offered;
  return { candidates: [{ ...mention.candidates[0], probability: null }, ...candidates], nil };
}

export async function explain() {
  const [chosen, number] = [state.chosen, latest];
  if (state.mentions[chosen].candidates.length === 0) return;
  try {
    const { explanations } = await ask("/v1/explain", { ...state.question, mention: chosen });
    if (number !== latest || chosen !== state.chosen) return;
    state.explanations = explanations;
    on.reasons();
  } catch (error) { on.error(error.message); }
}

// -- changes --------------------------------------------------------------------------------------

export function undo() {
  const before = past.pop();
  if (before) solve(before.text, before.mentions, { remember: false });
}

export function add(start, end) { place({}, start, end); }

// Give the chosen mention another place.
export function move(start, end) {
  const { detection, ...old } = state.mentions[state.chosen];
  place({ ...old, offered: undefined }, start, end, state.chosen);
}

// Mentions that a new one covers go away.
function place(mention, start, end, old = null) {
  ({ start, end } = wholeWords(state.chars, start, end));
  if (start === end) return;
  const others = state.mentions.filter((m, i) => i !== old && (m.end <= start || m.start >= end));
  const mentions = [...others, { ...mention, start, end }].sort((a, b) => a.start - b.start);
  solve(text(), mentions, { chosen: mentions.findIndex((m) => m.start === start) });
}

export function resize(edge, way) {
  const mention = { ...state.mentions[state.chosen] };
  const to = nextWord(state.chars, mention[edge], way, edge);
  if (to === mention[edge]) return;
  mention[edge] = to;
  if (mention.start < mention.end) move(mention.start, mention.end);
}

export function remove() {
  return solve(text(), state.mentions.filter((_, i) => i !== state.chosen));
}

// Say what the chosen mention means (null: let the model say it).
export function clamp(entity) {
  const mentions = state.mentions.map((m, i) => (i === state.chosen
    ? { ...m, clamped: entity !== null, entity, offered: m.offered ?? { candidates: m.candidates, nil: m.nil } } : m));
  solve(text(), mentions, { chosen: state.chosen, open: entity });
}
