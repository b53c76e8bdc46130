// Writing the text, and selecting words of it by mouse or keyboard.

import { $ } from "./dom.js";
import { add, move, solve, state, text } from "./session.js";
import { moved } from "./spans.js";
import { selectedSpan } from "./text.js";

export const editing = () => !$("editor").hidden;

export function edit(on) {
  const typing = $("editor").contains(document.activeElement);
  $("editor").hidden = !on;
  $("text").hidden = on;
  $("reading").hidden = on;
  $("edit").setAttribute("aria-pressed", String(on));
  $("edit").textContent = on ? "Done" : "Edit";
  hideSelection();
  if (on) { $("source").value = text(); $("source").focus(); }
  else if (typing) $("text").focus({ preventScroll: true });
}

// Find the mentions of the text. Without a text there is nothing to read: the editor stays.
export async function link() {
  const source = editing() ? $("source").value : text();
  if (await solve(source, null)) edit(!source.trim());
}

export async function done() {
  const now = Array.from($("source").value);
  const same = now.join("") === text();
  if (same || await solve(now.join(""), moved(state.mentions, state.chars, now))) edit(!text().trim());
}

// Make a mention of what is selected in the editor.
export async function mark() {
  const area = $("source");
  const [from, to] = [area.selectionStart, area.selectionEnd];
  if (from === to) { area.focus(); return; }
  const start = Array.from(area.value.slice(0, from)).length;
  const end = start + Array.from(area.value.slice(from, to)).length;
  await done();
  if (!editing()) add(start, end);
}

// -- the toolbar at selected words ----------------------------------------------------------------

function hideSelection() { $("selection").hidden = true; }

export function showSelection() {
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

function withSelection(change) {
  const { start, end } = $("selection").dataset;
  hideSelection();
  window.getSelection().removeAllRanges();
  change(Number(start), Number(end));
}

export const addSelected = () => withSelection(add);
export const moveSelected = () => withSelection(move);
