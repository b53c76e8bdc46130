// Small helpers: elements without HTML strings (nothing from a request is ever parsed as markup), and the service.

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

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

// How sure an answer is, as the name of a colour.
export function tint(mention) {
  if (mention.clamped) return "pinned";
  if (mention.entity === null) return "none";
  return mention.probability >= 0.8 ? "sure" : mention.probability >= 0.5 ? "likely" : "doubtful";
}

export const percent = (share) => (share > 0.995 && share < 1 ? ">99" : Math.round(100 * share)) + " %";
export const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
