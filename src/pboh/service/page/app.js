// The page: a text, its mentions, and everything that follows from them.

import { $, ask, button, count, enable } from "./dom.js";
import { addSelected, done, edit, editing, link, mark, moveSelected, showSelection } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import { Graph } from "./graph.js";
import { showInspector } from "./inspector.js";
import { onKey } from "./keys.js";
import { go, play, showRound, stop } from "./player.js";
import { canUndo, clamp, explain, on, remove, resize, solve, state, undo } from "./session.js";
import { showText } from "./text.js";

const graph = new Graph((i) => choose(i, false, true));
const actions = {
  clamp, resize,
  choose: (i) => choose(i, true),
  open(entity) { state.open = entity; showInspector(state, actions); },
  async remove() {
    const next = state.chosen;
    if (await remove()) ($(`mention-${next}`) ?? $(`mention-${next - 1}`) ?? $("text")).focus();
  },
  async search(name) {
    if (!name.trim()) return null;
    try { return (await ask(`/v1/search?name=${encodeURIComponent(name.trim())}`)).entities; }
    catch (error) { warn(error.message); return null; }
  },
};

// -- showing --------------------------------------------------------------------------------------

on.change = () => {
  warn("");
  stop();
  showText(state, (i) => choose(i));
  showChosen();
  graph.show(state.data, state.chosen);
  const linked = state.mentions.filter((m) => m.entity !== null).length;
  $("facts").textContent = state.data.milliseconds === null ? "Nothing to link yet"
    : `${count(state.mentions.length, "mention")}, ${linked} linked · ${Math.round(state.data.milliseconds)} ms`;
  enable("undo", canUndo());
  showRound(graph);
};
on.reasons = () => showInspector(state, actions);
on.error = warn;

function warn(sentence) {
  $("alert").textContent = sentence ? sentence[0].toUpperCase() + sentence.slice(1) : "";
  $("alert").hidden = !sentence;
}

function showChosen() {
  $("why").classList.toggle("open", state.chosen !== null);
  showInspector(state, actions);
}

// Look at a mention (null: at none), in the text or in the graph, and put the focus on it when that is wanted.
function choose(i, focus = false, inGraph = false) {
  state.chosen = i;
  state.explanations = null;
  state.open = i === null ? null : state.mentions[i].entity;
  for (const other of document.querySelectorAll(".mention")) {
    other.setAttribute("aria-current", String(other.id === `mention-${i}`));
  }
  showChosen();
  graph.select(i);
  showRound(graph);
  if (i === null) return;
  $("why").scrollTop = 0;
  const shown = inGraph ? graph.nodes.get(i) : $(`mention-${i}`);
  if (focus) shown?.focus({ preventScroll: true });
  shown?.scrollIntoView({ block: "nearest" });
  explain();
}

function showThreshold() {
  const least = state.threshold ?? state.info.threshold;
  const own = state.threshold === null || state.threshold === state.info.threshold;
  const said = `from ${Math.round(100 * least)} % worth a link${own ? ", the model’s threshold" : ""}`;
  $("threshold").value = least;
  $("threshold").setAttribute("aria-valuetext", said);
  $("least").textContent = said;
}

// -- wiring ---------------------------------------------------------------------------------------

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  setTheme(now === "dark" ? "light" : "dark");
}

function setTheme(name) {
  if (!name) return;
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("theme", name); } catch { /* private windows may not keep it */ }
}

function wire() {
  const clicks = { undo, link, mark, theme, edit: () => (editing() ? done() : edit(true)), close: () => choose(null),
    play: () => play(graph), back: () => go(graph, graph.round - 1), forth: () => go(graph, graph.round + 1),
    add: addSelected, move: moveSelected };
  for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
  $("threshold").addEventListener("input", () => { state.threshold = Number($("threshold").value); showThreshold(); });
  $("threshold").addEventListener("change", link);
  $("concepts").addEventListener("change", () => { state.find = $("concepts").checked ? "all" : "names"; link(); });
  $("round").addEventListener("input", () => { stop(); go(graph, Number($("round").value)); });
  document.addEventListener("keydown", (event) => onKey(event, graph, { choose, remove: actions.remove }));
  document.addEventListener("selectionchange", showSelection);
  window.addEventListener("resize", () => {
    if (!state.data || $("graph").clientWidth === graph.width) return;
    graph.show(state.data, state.chosen, graph.round);
    showRound(graph);
  });
}

// Solve an example and, where there is room beside the text, look at its telling name.
async function showExample([, name, text]) {
  if (!await solve(text, null)) return;
  const telling = state.mentions.findIndex((m) => m.text === name);
  if (telling >= 0 && matchMedia("(min-width: 901px)").matches) choose(telling);
}

// The examples are English: the page of a model of another language begins empty.
async function begin() {
  if (![null, "en"].includes(state.info.language)) {
    await solve("", null);
    edit(true);
    return;
  }
  $("examples").hidden = false;
  const offer = (example) => button(example[0], () => { edit(false); showExample(example); });
  $("examples").append(...EXAMPLES.map(offer));
  await showExample(EXAMPLES[0]);
}

async function start() {
  try { setTheme(localStorage.getItem("theme")); } catch { /* as above */ }
  wire();
  try {
    state.info = await ask("/v1/info");
    const size = state.info.entities.toLocaleString("en");
    $("model").textContent = `${size} entities · ${state.info.language ?? "?"}`;
    showThreshold();
    await begin();
  } catch (error) {
    $("model").textContent = "not ready";
    warn(error.message);
  }
}

start();
