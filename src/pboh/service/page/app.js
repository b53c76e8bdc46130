// The page: a text, its mentions, and everything that follows from them. Every change is solved anew by the service.

import { $, ask } from "./dom.js";
import { Graph } from "./graph.js";
import { showInspector } from "./inspector.js";
import { moved, nextWord, selectedSpan, showText, trimmed } from "./text.js";

const EXAMPLE = "Jordan and Pippen won six titles with the Bulls in Chicago. In Munich, Müller scored for Bayern against "
  + "Dortmund. Mercury, Venus and Mars are planets; the Romans had gods of these names.";
const state = { chars: [], mentions: [], chosen: null, open: null, explanations: null, data: null, info: null, threshold: null };
const past = [];
const graph = new Graph(choose);
let latest = 0;
let timer = null;

// -- solving --------------------------------------------------------------------------------------

const asked = (mentions) => mentions.map(({ start, end, clamped, entity }) => (clamped ? { start, end, entity } : { start, end }));

async function solve(text, mentions, keep = {}) {
  const number = ++latest;
  document.body.setAttribute("aria-busy", "true");
  try {
    const found = { text, threshold: state.threshold };
    const data = await ask("/v1/graph", mentions === null ? found : { text, mentions: asked(mentions) });
    if (number !== latest) return false; // a newer question is on its way
    if (keep.remember !== false && state.data) past.push({ text: state.chars.join(""), mentions: state.mentions });
    Object.assign(state, { chars: Array.from(text), mentions: data.mentions, data, explanations: null });
    state.chosen = keep.chosen !== undefined && keep.chosen < data.mentions.length ? keep.chosen : null;
    state.open = keep.open ?? null;
    show();
    if (state.chosen !== null) await explain();
    return true;
  } catch (error) {
    if (number === latest) warn(error.message);
    return false;
  } finally {
    if (number === latest) document.body.removeAttribute("aria-busy");
  }
}

async function explain() {
  const [chosen, number] = [state.chosen, latest];
  if (state.mentions[chosen].candidates.length === 0) return;
  try {
    const body = { text: state.chars.join(""), mentions: asked(state.mentions), mention: chosen };
    const { explanations } = await ask("/v1/explain", body);
    if (number !== latest || chosen !== state.chosen) return;
    state.explanations = explanations;
    showInspector(state, actions);
  } catch (error) { warn(error.message); }
}

// -- showing --------------------------------------------------------------------------------------

function show() {
  warn("");
  stop();
  showText(state, choose);
  showInspector(state, actions);
  graph.show(state.data, state.chosen);
  const linked = state.mentions.filter((m) => m.entity !== null).length;
  $("facts").textContent = `${count(state.mentions.length, "mention")}, ${linked} linked · ${state.data.milliseconds} ms`;
  $("round").max = Math.max(0, state.data.rounds.length - 1);
  $("undo").disabled = past.length === 0;
  showRound();
}

function showRound() {
  const last = Math.max(0, state.data.rounds.length - 1);
  $("round").value = graph.round;
  const where = graph.round === 0 ? "each name on its own" : `round ${graph.round} of ${last}`;
  const ended = graph.round === last && last > 0 ? (state.data.converged ? ", converged" : ", not converged") : "";
  $("round-facts").textContent = state.mentions.length ? `${where}${ended} · ${count(graph.live, "tie")}` : "";
  $("back").disabled = graph.round === 0;
  $("forth").disabled = graph.round === last;
}

const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

function warn(sentence) {
  $("alert").textContent = sentence ? sentence[0].toUpperCase() + sentence.slice(1) : "";
  $("alert").hidden = !sentence;
}

function choose(i, focus = false) {
  state.chosen = i;
  state.explanations = null;
  state.open = i === null ? null : state.mentions[i].entity;
  for (const button of document.querySelectorAll(".mention")) {
    button.setAttribute("aria-current", button.id === `mention-${i}` ? "true" : "false");
  }
  showInspector(state, actions);
  graph.update(i);
  if (i === null) return;
  if (focus) $(`mention-${i}`)?.focus();
  explain();
}

// -- changing -------------------------------------------------------------------------------------

const text = () => state.chars.join("");

function add(start, end) {
  ({ start, end } = trimmed(state.chars, start, end));
  if (start === end) return;
  const kept = state.mentions.filter((m) => m.end <= start || m.start >= end);
  const mentions = [...kept, { start, end }].sort((a, b) => a.start - b.start);
  solve(text(), mentions, { chosen: mentions.findIndex((m) => m.start === start) });
}

const actions = {
  choose,
  open(entity) { state.open = entity; showInspector(state, actions); },
  remove() {
    if (state.chosen === null) return;
    solve(text(), state.mentions.filter((_, i) => i !== state.chosen));
  },
  clamp(entity) {
    if (state.chosen === null) return;
    const mentions = state.mentions.map((m, i) => (i === state.chosen ? { ...m, clamped: entity !== null, entity } : m));
    solve(text(), mentions, { chosen: state.chosen, open: entity });
  },
  resize(edge, way) {
    if (state.chosen === null) return;
    const mention = { ...state.mentions[state.chosen] };
    mention[edge] = nextWord(state.chars, mention[edge], way, edge);
    if (mention.start >= mention.end || mention[edge] === state.mentions[state.chosen][edge]) return;
    replace(mention.start, mention.end);
  },
  async search(name) {
    if (!name.trim()) return null;
    try { return (await ask(`/v1/search?name=${encodeURIComponent(name.trim())}`)).entities; }
    catch (error) { warn(error.message); return null; }
  },
};

// Give the chosen mention another place; mentions it now covers go away.
function replace(start, end) {
  ({ start, end } = trimmed(state.chars, start, end));
  const old = state.mentions[state.chosen];
  const others = state.mentions.filter((m) => m !== old && (m.end <= start || m.start >= end));
  const mentions = [...others, { ...old, start, end }].sort((a, b) => a.start - b.start);
  solve(text(), mentions, { chosen: mentions.findIndex((m) => m.start === start) });
}

function undo() {
  const before = past.pop();
  if (before) solve(before.text, before.mentions, { remember: false });
}

// -- editing --------------------------------------------------------------------------------------

const editing = () => !$("editor").hidden;

function edit(on) {
  $("editor").hidden = !on;
  $("text").hidden = on;
  $("reading-hint").hidden = on;
  $("edit").setAttribute("aria-pressed", String(on));
  $("edit").textContent = on ? "Done" : "Edit";
  if (on) { $("source").value = text(); $("source").focus(); hideSelection(); }
}

async function link() {
  const source = editing() ? $("source").value : text();
  if (await solve(source, null)) edit(false);
}

async function done() {
  const now = Array.from($("source").value);
  if (now.join("") === text()) { edit(false); return; }
  if (await solve(now.join(""), moved(state.mentions, state.chars, now))) edit(false);
}

async function mark() {
  const area = $("source");
  const [from, to] = [area.selectionStart, area.selectionEnd];
  if (from === to) { area.focus(); return; }
  const start = Array.from(area.value.slice(0, from)).length;
  const end = start + Array.from(area.value.slice(from, to)).length;
  await done();
  if (!editing()) add(start, end);
}

// -- selecting ------------------------------------------------------------------------------------

function showSelection() {
  const span = editing() || !state.data ? null : selectedSpan();
  if (!span) { hideSelection(); return; }
  const popover = $("selection");
  popover.hidden = false;
  $("move").hidden = state.chosen === null;
  const card = popover.parentElement.getBoundingClientRect();
  const left = Math.min(span.box.left - card.left, card.width - popover.offsetWidth - 8);
  popover.style.left = `${Math.max(8, left)}px`;
  popover.style.top = `${span.box.bottom - card.top + 6}px`;
  popover.dataset.start = span.start;
  popover.dataset.end = span.end;
}

function hideSelection() { $("selection").hidden = true; }

function withSelection(change) {
  const { start, end } = $("selection").dataset;
  hideSelection();
  window.getSelection().removeAllRanges();
  change(Number(start), Number(end));
}

// -- playing --------------------------------------------------------------------------------------

function go(round) { graph.go(round, state.chosen); showRound(); }

function stop() {
  clearInterval(timer);
  timer = null;
  $("play").textContent = "▶ Play";
}

function play() {
  if (timer) { stop(); return; }
  if (!state.data?.rounds.length) return;
  go(0);
  $("play").textContent = "❚❚ Pause";
  timer = setInterval(() => {
    if (graph.round >= state.data.rounds.length - 1) { stop(); return; }
    go(graph.round + 1);
  }, 900);
}

// -- wiring ---------------------------------------------------------------------------------------

function onKey(event) {
  const typing = event.target.closest("input[type=search], textarea");
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key === "Enter") { event.preventDefault(); link(); return; }
  if (command && event.key.toLowerCase() === "m" && editing()) { event.preventDefault(); mark(); return; }
  if (typing) { if (event.key === "Escape" && editing()) done(); return; }
  if (command && event.key.toLowerCase() === "z") { event.preventDefault(); undo(); return; }
  if (command || !state.data) return;
  const act = keyAction(event);
  if (act) { event.preventDefault(); act(); }
}

function keyAction(event) {
  const slider = event.target.type === "range";
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (way && slider) return null;
  if (way && event.shiftKey) return () => actions.resize("end", way);
  if (way && event.altKey) return () => actions.resize("start", way);
  if (way) return () => step(way);
  if (/^[1-9]$/.test(event.key)) {
    const entry = state.mentions[state.chosen]?.candidates[Number(event.key) - 1];
    return entry ? () => actions.clamp(entry.entity) : null;
  }
  return {
    0: () => { if (state.mentions[state.chosen]?.clamped) actions.clamp(null); },
    Delete: actions.remove, Backspace: actions.remove, Escape: () => choose(null), p: play, e: () => edit(true),
    ",": () => go(graph.round - 1), ".": () => go(graph.round + 1),
  }[event.key] ?? null;
}

function step(way) {
  const n = state.mentions.length;
  if (n) choose(state.chosen === null ? (way > 0 ? 0 : n - 1) : (state.chosen + way + n) % n, true);
}

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
  const clicks = { undo, link, mark, play, theme, edit: () => (editing() ? done() : edit(true)),
    back: () => go(graph.round - 1), forth: () => go(graph.round + 1),
    add: () => withSelection(add), move: () => withSelection(replace) };
  for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
  $("threshold").addEventListener("input", () => {
    state.threshold = Number($("threshold").value);
    $("least").textContent = `at least ${Math.round(100 * state.threshold)} % sure`;
  });
  $("threshold").addEventListener("change", link);
  $("round").addEventListener("input", () => { stop(); go(Number($("round").value)); });
  document.addEventListener("keydown", onKey);
  document.addEventListener("selectionchange", showSelection);
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (state.data && window.innerWidth !== width) { width = window.innerWidth; const { round } = graph; graph.show(state.data, state.chosen); go(round); }
  });
}

async function start() {
  try { setTheme(localStorage.getItem("theme")); } catch { /* as above */ }
  wire();
  try {
    state.info = await ask("/v1/info");
    const size = state.info.entities.toLocaleString("en");
    $("model").textContent = `${size} entities · ${state.info.language ?? "?"}`;
    await solve(EXAMPLE, null);
  } catch (error) {
    $("model").textContent = "not ready";
    warn(error.message);
  }
}

start();
