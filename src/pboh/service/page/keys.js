// The keyboard: everything the mouse can do.

import { done, edit, editing, link, mark } from "./editor.js";
import { go, play } from "./player.js";
import { clamp, listed, resize, state, undo } from "./session.js";

export function onKey(event, graph, page) {
  const typing = event.target.closest("input[type=search], textarea");
  const command = event.ctrlKey || event.metaKey;
  let act = null;
  if (command) act = commandOf(event, typing);
  else if (typing) act = typingOf(event);
  else if (state.data) act = actionOf(event, graph, page);
  if (act) { event.preventDefault(); act(); }
}

function commandOf(event, typing) {
  const key = event.key.toLowerCase();
  if (key === "enter") return link;
  if (key === "m" && editing()) return mark;
  return key === "z" && !typing ? undo : null;
}

function typingOf(event) {
  return event.key === "Escape" && editing() ? done : null;
}

function actionOf(event, graph, page) {
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (way) return arrow(event, way, page);
  const mention = state.mentions[state.chosen];
  if (/^[1-9]$/.test(event.key)) {
    const entry = mention && listed(mention).candidates[Number(event.key) - 1];
    return entry ? () => clamp(entry.entity) : null;
  }
  const ofMention = { 0: mention?.clamped ? () => clamp(null) : null, Delete: page.remove, Backspace: page.remove,
    Escape: () => page.choose(null) };
  const ofPage = { p: () => play(graph), e: () => edit(true),
    ",": () => go(graph, graph.round - 1), ".": () => go(graph, graph.round + 1) };
  return (mention && ofMention[event.key]) ?? ofPage[event.key] ?? null;
}

function arrow(event, way, page) {
  if (event.target.type === "range") return null;
  const edge = event.shiftKey ? "end" : event.altKey ? "start" : null;
  if (edge) return state.chosen === null ? null : () => resize(edge, way);
  const n = state.mentions.length;
  const next = state.chosen === null ? (way > 0 ? 0 : n - 1) : (state.chosen + way + n) % n;
  return n ? () => page.choose(next, true) : null;
}
