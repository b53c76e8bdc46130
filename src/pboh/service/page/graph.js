// The factor graph: a ring of belief per mention, lines between entities seen together, round by round.

import { $, certainty, draw, make, redraw, tint } from "./dom.js";
import { RADIUS, layout, selection } from "./layout.js";

const LENGTH = 2 * Math.PI * (RADIUS - 4); // of a ring
const LONGEST = 260; // pixels of a label

export class Graph {
  constructor(choose) {
    this.choose = choose;
    this.round = 0;
  }

  get last() { return Math.max(0, this.data.rounds.length - 1); }

  // Lay a solved document out anew; without a round, the last one is shown.
  show(data, chosen, round = null) {
    this.data = data;
    this.round = this.last;
    this.width = Math.max(300, $("graph").clientWidth || 720);
    this.everyone = data.mentions.map((_, i) => i).filter((i) => data.mentions[i].candidates.length);
    const ties = this.ties();
    this.shown = selection(this.everyone, ties, chosen, this.width, (i) => this.title(i));
    this.place(ties);
    this.edges = draw("g");
    this.nodes = new Map(this.shown.map((i) => [i, this.node(i)]));
    const frame = { viewBox: `0 0 ${this.width} ${this.height}`, role: "group", "aria-label": "Mentions and their ties" };
    const picture = draw("svg", frame, this.edges, ...this.nodes.values());
    redraw($("graph"), this.shown.length ? picture
      : make("p", { className: "empty", textContent: "Nothing to draw yet: no mention has a candidate." }));
    this.round = round ?? this.last;
    this.update(chosen);
  }

  // Another mention is chosen: where only a part of the document is drawn, it is now another part.
  select(chosen) {
    if (this.shown.length === this.everyone.length) this.update(chosen);
    else this.show(this.data, chosen, this.round);
  }

  place(ties) {
    const measure = document.createElement("canvas").getContext("2d");
    measure.font = `650 12.5px ${getComputedStyle(document.body).fontFamily}`;
    const widthOf = (words) => measure.measureText(words).width;
    this.fitted = (words) => shorten(words, widthOf, Math.min(LONGEST, this.width - 40));
    const nodes = this.shown.map((i) => {
      const widths = this.labels(i).map((label) => widthOf(this.fitted(label)));
      return { i, half: Math.max(RADIUS + 6, 4 + Math.max(...widths) / 2) };
    });
    const index = new Map(this.shown.map((i, k) => [i, k]));
    const strongest = ties[0]?.value ?? 1;
    const between = ties.filter((e) => index.has(e.a) && index.has(e.b))
      .map((e) => [index.get(e.a), index.get(e.b), e.value / strongest]);
    const { spots, height } = layout(nodes, between, this.width);
    this.places = new Map(spots.map((spot) => [spot.i, [spot.x, spot.y]]));
    this.height = height;
  }

  // Everything that is written under a mention in some round.
  labels(i) {
    const { candidates, text } = this.data.mentions[i];
    const best = new Set(this.data.rounds.map((_, round) => this.best(i, round)));
    return [...[...best].map((c) => candidates[c]?.entity ?? ""), `“${text}”`, "unlinked"];
  }

  // The candidate of a mention that is best in a round.
  best(i, round = this.round) {
    if (round >= this.last && this.data.mentions[i].answer !== null) return this.data.mentions[i].answer;
    const shares = this.data.rounds[round]?.[i] ?? [];
    return shares.indexOf(Math.max(...shares));
  }

  // The belief in that candidate; in the end, how probable it is.
  share(i) {
    const best = this.best(i);
    if (this.round >= this.last) return this.data.mentions[i].candidates[best]?.probability ?? 0;
    return this.data.rounds[this.round]?.[i]?.[best] ?? 0;
  }

  title(i) {
    const mention = this.data.mentions[i];
    if (this.round >= this.last && mention.entity === null) return "unlinked";
    return mention.candidates[this.best(i)]?.entity ?? "";
  }

  // Factors between the candidates that are best in the round, strongest first.
  ties() {
    return this.data.edges.filter((e) => this.best(e.a) === e.x && this.best(e.b) === e.y);
  }

  go(round, chosen) {
    const before = new Map(this.shown.map((i) => [i, this.title(i)]));
    this.round = Math.min(Math.max(0, round), this.last);
    this.update(chosen);
    for (const i of this.shown) this.nodes.get(i).classList.toggle("changed", before.get(i) !== this.title(i));
  }

  update(chosen) {
    for (const i of this.shown) this.updateNode(i, chosen);
    const live = this.ties().filter((e) => this.places.has(e.a) && this.places.has(e.b));
    const isPart = this.shown.length < this.everyone.length;
    const strongest = (isPart ? live : this.data.edges)[0]?.value ?? 1;
    const centre = chosen ?? (isPart ? this.shown[0] : null);
    this.edges.replaceChildren(...[...live].reverse().flatMap((e) => this.edge(e, e.value / strongest, centre)));
    this.live = live.length;
  }

  node(i) {
    const [x, y] = this.places.get(i);
    const press = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.choose(i);
    };
    const ring = { r: RADIUS - 4, "stroke-width": 8 };
    const group = draw("g", {
      class: "node", transform: `translate(${x} ${y})`, tabindex: 0, role: "button", "data-key": i,
      click: () => this.choose(i), keydown: press,
    }, draw("title"), draw("circle", { class: "halo", r: RADIUS + 5 }), draw("circle", { class: "disc", r: RADIUS }),
    draw("circle", { class: "track", ...ring }), draw("circle", { class: "share", ...ring, transform: "rotate(-90)" }),
    draw("text", { class: "entity", y: RADIUS + 15 }), draw("text", { class: "surface", y: RADIUS + 28 }));
    if (this.data.mentions[i].clamped) group.append(draw("circle", { class: "pin-mark", r: 4 }));
    return group;
  }

  updateNode(i, chosen) {
    const mention = this.data.mentions[i];
    const group = this.nodes.get(i);
    const title = this.title(i);
    const share = this.share(i);
    const colour = mention.clamped || this.round >= this.last ? tint(mention) : certainty(share);
    group.setAttribute("class", `node ${colour}`);
    const dashes = `${(share * LENGTH).toFixed(2)} ${LENGTH.toFixed(2)}`;
    group.querySelector(".share").setAttribute("stroke-dasharray", dashes);
    group.querySelector(".entity").textContent = this.fitted(title);
    group.querySelector(".surface").textContent = mention.text === title ? "" : this.fitted(`“${mention.text}”`);
    group.querySelector("title").textContent = `${mention.text}: ${title}`;
    group.setAttribute("aria-current", i === chosen ? "true" : "false");
    group.setAttribute("aria-label", `${mention.text}: ${title}`);
  }

  edge(e, share, centre) {
    const [x1, y1] = this.places.get(e.a);
    const [x2, y2] = this.places.get(e.b);
    const dim = centre !== null && centre !== e.a && centre !== e.b ? " dimmed" : "";
    const line = draw("line", {
      class: `edge${dim}`, x1, y1, x2, y2,
      "stroke-width": (1 + 8 * share).toFixed(2), opacity: (0.25 + 0.5 * share).toFixed(2),
    }, draw("title"));
    line.firstChild.textContent = `${this.data.mentions[e.a].candidates[e.x].entity} – `
      + `${this.data.mentions[e.b].candidates[e.y].entity}: ${e.value.toFixed(2)}`;
    const side = 4 + 4 * share;
    const mark = draw("rect", {
      class: `factor-mark${dim}`, x: (x1 + x2) / 2 - side / 2, y: (y1 + y2) / 2 - side / 2, width: side, height: side,
    });
    return [line, mark];
  }
}

// As many of the first characters as are not wider than that.
function shorten(words, widthOf, most) {
  if (widthOf(words) <= most) return words;
  const chars = Array.from(words);
  while (chars.length && widthOf(`${chars.join("")}…`) > most) chars.pop();
  return `${chars.join("").trimEnd()}…`;
}
