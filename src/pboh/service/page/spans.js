// Spans of a text, in code points as in the service: whole words, the next word, and where an edit moves them.

const words = new Intl.Segmenter(undefined, { granularity: "word" });

// Where words begin and end; an apostrophe parts words, so that “Jordan’s” holds “Jordan”.
function bounds(chars) {
  const [begins, ends] = [new Set(), new Set()];
  let at = 0;
  for (const { segment, isWordLike } of words.segment(chars.join(""))) {
    const inside = Array.from(segment);
    const isWord = (k) => isWordLike && k >= 0 && k < inside.length && /[\p{L}\p{N}\p{M}]/u.test(inside[k]);
    for (let k = 0; k <= inside.length; k += 1) {
      if (isWord(k) && !isWord(k - 1)) begins.add(at + k);
      if (isWord(k - 1) && !isWord(k)) ends.add(at + k);
    }
    at += inside.length;
  }
  return { begins, ends };
}

// A selection without blanks at its ends, grown to whole words.
export function wholeWords(chars, start, end) {
  while (start < end && /\s/.test(chars[start])) start += 1;
  while (end > start && /\s/.test(chars[end - 1])) end -= 1;
  if (start === end) return { start, end };
  const { begins, ends } = bounds(chars);
  const inWord = (k) => /[\p{L}\p{N}\p{M}]/u.test(chars[k]);
  if (inWord(start)) while (start > 0 && !begins.has(start)) start -= 1;
  if (inWord(end - 1)) while (end < chars.length && !ends.has(end)) end += 1;
  return { start, end };
}

// The next place where a word begins (or ends) in a direction.
export function nextWord(chars, at, direction, edge) {
  const places = bounds(chars)[edge === "start" ? "begins" : "ends"];
  for (let k = at + direction; k >= 0 && k <= chars.length; k += direction) if (places.has(k)) return k;
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
