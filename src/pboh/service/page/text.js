// The text with its mentions as buttons, and what of it is selected. Offsets count code points, as in the service.

import { $, make, percent, tint } from "./dom.js";

export function showText(state, choose) {
  const parts = [];
  let at = 0;
  const order = state.mentions.map((_, i) => i).sort((a, b) => state.mentions[a].start - state.mentions[b].start);
  for (const i of order) {
    const mention = state.mentions[i];
    if (mention.start < at) continue; // overlapping: drawn in the graph only
    parts.push(state.chars.slice(at, mention.start).join(""));
    parts.push(button(mention, i, state, choose));
    at = mention.end;
  }
  parts.push(state.chars.slice(at).join(""));
  $("text").replaceChildren(...parts);
}

function button(mention, i, state, choose) {
  const surface = state.chars.slice(mention.start, mention.end).join("");
  const title = mention.entity ?? "unlinked";
  const shown = title.toLowerCase() === surface.toLowerCase() ? null : make("small", { textContent: title });
  const sure = mention.clamped ? "clamped" : percent(mention.probability);
  return make("button", {
    type: "button", className: `mention ${tint(mention)}`, id: `mention-${i}`,
    title: `${title} · ${sure}`, "aria-label": `${surface}: ${title}, ${sure}`,
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

// A span without the blanks at its ends.
export function trimmed(chars, start, end) {
  while (start < end && /\s/.test(chars[start])) start += 1;
  while (end > start && /\s/.test(chars[end - 1])) end -= 1;
  return { start, end };
}

// The next place where a word begins (or ends) in a direction.
export function nextWord(chars, at, direction, edge) {
  const isWord = (k) => k >= 0 && k < chars.length && /[\p{L}\p{N}\p{M}]/u.test(chars[k]);
  for (let k = at + direction; k >= 0 && k <= chars.length; k += direction) {
    const begins = isWord(k) && !isWord(k - 1);
    const ends = isWord(k - 1) && !isWord(k);
    if (edge === "start" ? begins : ends) return k;
  }
  return at;
}

// Mentions of the old text at their places in the new one; those inside the edit are dropped.
export function moved(mentions, old, now) {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head
    && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const shift = now.length - old.length;
  return mentions.flatMap((m) => {
    if (m.end <= head) return [m];
    if (m.start >= old.length - tail) return [{ ...m, start: m.start + shift, end: m.end + shift }];
    return [];
  });
}
