// The text with its mentions as buttons, and what of it is selected. Offsets count code points, as in the service.

import { $, about, make, percent, redraw, tint } from "./dom.js";

export function showText(state, choose) {
  const parts = [];
  let at = 0;
  const order = state.mentions.map((_, i) => i).sort((a, b) => state.mentions[a].start - state.mentions[b].start);
  for (const [k, i] of order.entries()) {
    const mention = state.mentions[i];
    if (mention.start < at) continue; // overlapping: drawn in the graph only
    parts.push(state.chars.slice(at, mention.start).join(""));
    const next = state.mentions[order[k + 1]]?.start;
    const mark = state.chars.slice(mention.end, next).join("").match(/^[^\s\p{L}\p{N}]{1,4}/u)?.[0] ?? "";
    // No line begins with a comma.
    parts.push(make("span", { className: "unbroken" }, named(mention, i, state, choose), mark));
    at = mention.end + Array.from(mark).length;
  }
  parts.push(state.chars.slice(at).join(""));
  redraw($("text"), ...parts);
}

function named(mention, i, state, choose) {
  const surface = state.chars.slice(mention.start, mention.end).join("");
  const title = mention.entity ?? "unlinked";
  const shown = title.toLowerCase() === surface.toLowerCase() ? null : make("small", { textContent: title });
  const sure = mention.clamped ? "clamped" : mention.entity === null ? "" : percent(mention.probability);
  const known = about(mention.candidates.find((c) => c.entity === mention.entity));
  return make("button", {
    type: "button", className: `mention ${tint(mention)}`, id: `mention-${i}`, "data-key": mention.start,
    title: [title, known, sure].filter(Boolean).join(" · "), "aria-label": `${surface}: ${[title, sure].filter(Boolean).join(", ")}`,
    "aria-current": i === state.chosen ? "true" : "false",
    click: () => { if (window.getSelection().isCollapsed) choose(i); },
  }, make("span", { textContent: surface }), shown);
}

// The selected code points of the text that is shown, without the labels of mentions; null when nothing is.
export function selectedSpan() {
  const selection = window.getSelection();
  if (selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  if (!$("text").contains(range.commonAncestorContainer)) return null;
  const start = offsetOf(range.startContainer, range.startOffset);
  const end = offsetOf(range.endContainer, range.endOffset);
  return start < end ? { start, end, box: range.getBoundingClientRect() } : null;
}

function offsetOf(container, offset) {
  const before = document.createRange();
  before.setStart($("text"), 0);
  before.setEnd(container, offset);
  const copy = before.cloneContents();
  for (const label of copy.querySelectorAll("small")) label.remove();
  return Array.from(copy.textContent).length;
}
