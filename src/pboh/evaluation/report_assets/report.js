"use strict";
(() => {
  // Errors: rows of [dataset, document, before, mention, after, gold, answer, kind, probability, right, wrong].
  const [DATASET, DOCUMENT, BEFORE, MENTION, AFTER, GOLD, ANSWER, KIND, PROBABILITY, RIGHT, WRONG] = [...Array(11).keys()];
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const [list, more, found] = ["list", "more", "found"].map(byId);
  const PAGE = 40;
  let shown = [], drawn = 0;

  // Every text enters the page as a text node, never as markup.
  const element = (tag, kind, ...children) => {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    node.append(...children);
    return node;
  };

  const term = ([group, label, value], scale) => {
    const fill = element("span", "fill");
    const width = Math.min(50, 50 * Math.abs(value) / scale);
    fill.style.width = `${width}%`;
    fill.style.left = value < 0 ? `${50 - width}%` : "50%";
    const name = element("span", "name", label);
    name.title = label;
    return element("div", `term ${group}`, name, element("span", "track", fill), element("span", "value", value.toFixed(2)));
  };

  const side = (title, explained, scale, nothing) => {
    const box = element("div", "side");
    if (!explained) {
      box.append(element("h4", "", title), element("div", "none", nothing));
      return box;
    }
    box.append(element("h4", "", `${title}: ${explained.title} `, element("small", "", `p = ${explained.probability.toFixed(3)}`)));
    for (const one of explained.terms) box.append(term(one, scale));
    box.append(element("div", "term sum", element("span", "name", "score"), element("span"), element("span", "value", explained.score.toFixed(2))));
    return box;
  };

  const sides = (error) => {
    const terms = [error[RIGHT], error[WRONG]].flatMap((one) => (one ? one.terms : []));
    const scale = Math.max(1e-9, ...terms.map((one) => Math.abs(one[2])));
    return element("div", "sides",
      side("right", error[RIGHT], scale, `${error[GOLD]}: ${data.kinds[error[KIND]]}`),
      side(error[ANSWER] ? "answer" : "best candidate", error[WRONG], scale, "no candidate"));
  };

  const card = (error) => {
    const box = element("article", "error");
    box.append(element("div", "where",
      element("span", "", data.datasets[error[DATASET]]), element("span", "doc", error[DOCUMENT]),
      element("span", `kind-${error[KIND]}`, data.kinds[error[KIND]])));
    box.append(element("p", "", error[BEFORE], element("mark", "", error[MENTION]), error[AFTER]));
    const answer = error[ANSWER] === null ? "no answer" : `${error[ANSWER]} (${error[PROBABILITY].toFixed(3)})`;
    box.append(element("div", "verdict", element("span", "right", error[GOLD]), element("span", "wrong", answer)));
    if (error[RIGHT] || error[WRONG]) {
      const details = element("details", "", element("summary", "", "why"));
      details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(sides(error)); });
      box.append(details);
    }
    return box;
  };

  const draw = () => {
    const part = shown.slice(drawn, drawn + PAGE);
    list.append(...part.map(card));
    drawn += part.length;
  };

  const haystacks = new Map();
  const haystack = (error) => {
    if (!haystacks.has(error)) haystacks.set(error, [DOCUMENT, BEFORE, MENTION, AFTER, GOLD, ANSWER].map((at) => error[at] || "").join("\n").toLowerCase());
    return haystacks.get(error);
  };

  const filter = () => {
    const [words, dataset, kind, order] = ["search", "by-dataset", "by-kind", "order"].map((id) => byId(id).value);
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    shown = data.errors.filter((error) => (dataset === "" || error[DATASET] === Number(dataset))
      && (kind === "" || error[KIND] === Number(kind))
      && (!byId("explained").checked || error[RIGHT] || error[WRONG])
      && wanted.every((word) => haystack(error).includes(word)));
    if (order) shown.sort((a, b) => (order === "sure" ? -1 : 1) * (a[PROBABILITY] - b[PROBABILITY]));
    list.replaceChildren();
    drawn = 0;
    found.value = `${shown.length.toLocaleString("en")} of ${data.errors.length.toLocaleString("en")}`;
    draw();
  };

  const fill = (id, all, names, column) => {
    const counts = names.map((_, at) => data.errors.filter((error) => error[column] === at).length);
    byId(id).append(new Option(all, ""), ...names.map((name, at) => new Option(`${name} (${counts[at].toLocaleString("en")})`, at)));
  };

  byId("error-lead").textContent = data.errors.length
    ? `Every mention ${data.system} did not resolve to the gold. “why” shows the terms of the score of the right candidate and of the one that won.`
    : "No errors were recorded.";
  fill("by-dataset", "all datasets", data.datasets, DATASET);
  fill("by-kind", "all kinds", data.kinds, KIND);
  let waiting = 0;
  byId("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 150); });
  for (const id of ["by-dataset", "by-kind", "order", "explained"]) byId(id).addEventListener("change", filter);
  new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) draw(); }, { rootMargin: "800px" }).observe(more);
  filter();
})();
