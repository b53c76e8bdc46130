// Small helpers: elements without HTML strings (nothing from a request is ever parsed as markup), and the service.

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const button = (textContent, click, more = {}) => make("button", { type: "button", textContent, click, ...more });

export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Show something else in a box. The focus stays where it was: elements are recognised by their data-key.
export function redraw(box, ...children) {
  const held = box.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  box.replaceChildren(...children.filter((child) => child !== null));
  if (held === undefined) return;
  const again = [...box.querySelectorAll("[data-key]")].find((element) => element.dataset.key === held);
  (again ?? box).focus({ preventScroll: true });
}

// A button that has nothing to do keeps the focus, as a disabled one would not.
export const enable = (id, on) => $(id).setAttribute("aria-disabled", String(!on));

export async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  };
  let response;
  try { response = await fetch(path, options); } catch { throw new Error("The service does not answer."); }
  const value = await response.json().catch(() => ({ error: "The answer cannot be read." }));
  if (!response.ok) throw new Error(value.error || `The service answered ${response.status}.`);
  return value;
}

// How sure an answer is, as the name of a colour; by the percentage that is shown.
export function certainty(share) {
  const shown = Math.round(100 * share);
  return shown >= 80 ? "sure" : shown >= 50 ? "likely" : "doubtful";
}

export function tint(mention) {
  if (mention.clamped) return "clamped";
  return mention.entity === null ? "unlinked" : certainty(mention.probability);
}

export function percent(share) {
  if (share > 0.995 && share < 1) return ">99 %";
  if (share > 0 && share < 0.005) return "<1 %";
  return `${Math.round(100 * share)} %`;
}

export const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
export const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

// What a model knows of an entity besides its title; some models know nothing.
export const about = (entity) => [["unknown", "other"].includes(entity?.type) ? null : entity?.type, entity?.description]
  .filter(Boolean).join(" · ");
