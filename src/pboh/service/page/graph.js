// The factor graph: a ring of beliefs per mention, lines between entities seen together, round by round.

import { $, draw } from "./dom.js";

const RADIUS = 17;
const TINTS = ["--sure", "--likely", "--doubtful", "--pinned", "--words", "--neighbours", "--prior", "--none"];
const MOST_NODES = 80;

export class Graph {
  constructor(choose) {
    this.choose = choose;
    this.round = 0;
  }

  // Lay a solved document out anew.
  show(data, chosen) {
    this.data = data;
    this.shown = data.mentions.map((_, i) => i).filter((i) => data.mentions[i].candidates.length).slice(0, MOST_NODES);
    this.round = Math.max(0, data.rounds.length - 1);
    const box = $("graph");
    const width = Math.max(320, box.clientWidth || 720);
    const height = Math.min(620, Math.max(width < 560 ? 380 : 340, 190 + 22 * this.shown.length));
    this.places = layout(this.shown, data, width, height);
    this.svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Mentions and their ties" });
    this.edges = draw("g");
    this.nodes = new Map(this.shown.map((i) => [i, this.node(i)]));
    this.svg.append(this.edges, ...this.nodes.values());
    if (this.shown.length) box.replaceChildren(this.svg);
    else box.replaceChildren(Object.assign(document.createElement("p"), {
      className: "empty", textContent: "Nothing to draw yet: no mention has a candidate." }));
    this.update(chosen);
  }

  node(i) {
    const mention = this.data.mentions[i];
    const [x, y] = this.places.get(i);
    const length = 2 * Math.PI * (RADIUS - 4);
    const slices = mention.candidates.slice(0, TINTS.length).map((_, c) => {
      const slice = draw("circle", { class: "slice", r: RADIUS - 4, "stroke-width": 8, transform: "rotate(-90)" });
      slice.style.stroke = `var(${TINTS[c]})`;
      slice.dataset.length = length;
      return slice;
    });
    const group = draw("g", {
      class: "node", transform: `translate(${x} ${y})`, tabindex: 0, role: "button", "data-mention": i,
      click: () => this.choose(i),
      keydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.choose(i); } },
    }, draw("circle", { class: "halo", r: RADIUS + 5 }), draw("circle", { class: "disc", r: RADIUS }), ...slices);
    if (mention.clamped) group.append(textNode("pin-mark", 0, 0, "⚲"));
    group.append(textNode("entity", 0, RADIUS + 15, ""), textNode("surface", 0, RADIUS + 28, ""));
    return group;
  }

  // The candidate of a mention that is best in the round shown.
  best(i) {
    const last = this.round >= this.data.rounds.length - 1;
    if (last && this.data.mentions[i].answer !== null) return this.data.mentions[i].answer;
    const shares = this.data.rounds[this.round]?.[i] ?? [];
    return shares.indexOf(Math.max(...shares));
  }

  go(round, chosen) {
    const before = new Map(this.shown.map((i) => [i, this.best(i)]));
    this.round = Math.min(Math.max(0, round), Math.max(0, this.data.rounds.length - 1));
    this.update(chosen);
    for (const i of this.shown) this.nodes.get(i).classList.toggle("changed", before.get(i) !== this.best(i));
  }

  update(chosen) {
    for (const i of this.shown) this.updateNode(i, chosen);
    const live = this.data.edges.filter((e) => this.places.has(e.a) && this.places.has(e.b)
      && this.best(e.a) === e.x && this.best(e.b) === e.y);
    const strongest = Math.max(1e-9, ...this.data.edges.map((e) => e.value));
    this.edges.replaceChildren(...live.slice(0, 400).reverse().flatMap((e) => this.edge(e, strongest, chosen)));
    this.live = live.length;
  }

  updateNode(i, chosen) {
    const mention = this.data.mentions[i];
    const group = this.nodes.get(i);
    const shares = this.data.rounds[this.round]?.[i] ?? mention.candidates.map((c) => c.probability);
    let before = 0;
    group.querySelectorAll(".slice").forEach((slice, c) => {
      const length = Number(slice.dataset.length);
      slice.setAttribute("stroke-dasharray", `${shares[c] * length} ${length}`);
      slice.setAttribute("stroke-dashoffset", -before * length);
      before += shares[c];
    });
    const title = mention.candidates[this.best(i)]?.entity ?? "";
    group.querySelector(".entity").textContent = shorten(title, 24);
    group.querySelector(".surface").textContent = mention.text === title ? "" : `“${shorten(mention.text, 24)}”`;
    group.setAttribute("aria-current", i === chosen ? "true" : "false");
    group.setAttribute("aria-label", `${mention.text}: ${title}`);
  }

  edge(e, strongest, chosen) {
    const [x1, y1] = this.places.get(e.a);
    const [x2, y2] = this.places.get(e.b);
    const share = e.value / strongest;
    const dim = chosen !== null && chosen !== e.a && chosen !== e.b ? " dimmed" : "";
    const line = draw("line", {
      class: `edge${dim}`, x1, y1, x2, y2, "stroke-width": (1 + 8 * share).toFixed(2), opacity: (0.25 + 0.5 * share).toFixed(2),
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

function textNode(kind, x, y, content) {
  const text = draw("text", { class: kind, x, y });
  text.textContent = content;
  return text;
}

const shorten = (text, length) => (Array.from(text).length > length ? `${Array.from(text).slice(0, length - 1).join("")}…` : text);

// Places by forces, always the same for the same document: ties pull, nodes and their labels push.
function layout(shown, data, width, height) {
  const margin = { x: 70, top: RADIUS + 8, bottom: RADIUS + 34 };
  const spots = shown.map((i, k) => {
    const angle = (2 * Math.PI * k) / shown.length - Math.PI / 2;
    return { i, x: width / 2 + Math.cos(angle) * width * 0.34, y: height / 2 + Math.sin(angle) * height * 0.34,
      half: 14 + 3.4 * Math.min(24, Math.max(...data.mentions[i].candidates.map((c) => c.entity.length), 6)) };
  });
  const at = new Map(spots.map((spot) => [spot.i, spot]));
  const strongest = Math.max(1e-9, ...data.edges.map((e) => e.value));
  const ties = data.edges.filter((e) => at.has(e.a) && at.has(e.b)
    && data.mentions[e.a].answer === e.x && data.mentions[e.b].answer === e.y);
  const ideal = Math.sqrt((width * height) / Math.max(1, spots.length)) * 0.75;
  for (let step = 0; step < 300; step += 1) {
    const heat = 0.9 * (1 - step / 300) + 0.05;
    const push = spots.map(() => [0, 0]);
    for (let a = 0; a < spots.length; a += 1) for (let b = a + 1; b < spots.length; b += 1) repel(spots, a, b, push, ideal);
    for (const e of ties) {
      const [a, b] = [at.get(e.a), at.get(e.b)];
      const [dx, dy] = [b.x - a.x, b.y - a.y];
      const distance = Math.hypot(dx, dy) || 1;
      const pull = 0.05 * (0.3 + e.value / strongest) * (distance - ideal * 0.9) / distance;
      const [ka, kb] = [spots.indexOf(a), spots.indexOf(b)];
      push[ka][0] += dx * pull; push[ka][1] += dy * pull;
      push[kb][0] -= dx * pull; push[kb][1] -= dy * pull;
    }
    spots.forEach((spot, k) => {
      spot.x += heat * push[k][0] + (width / 2 - spot.x) * 0.004;
      spot.y += heat * push[k][1] + (height / 2 - spot.y) * 0.008;
      const side = Math.min(spot.half, margin.x + 20);
      spot.x = Math.min(width - side, Math.max(side, spot.x));
      spot.y = Math.min(height - margin.bottom, Math.max(margin.top, spot.y));
    });
  }
  return new Map(spots.map((spot) => [spot.i, [spot.x, spot.y]]));
}

function repel(spots, a, b, push, ideal) {
  const [p, q] = [spots[a], spots[b]];
  const [dx, dy] = [p.x - q.x || 0.5 + a - b, p.y - q.y || 0.5];
  const distance = Math.hypot(dx, dy);
  let force = (0.35 * ideal * ideal) / (distance * distance);
  push[a][0] += (dx / distance) * force; push[a][1] += (dy / distance) * force;
  push[b][0] -= (dx / distance) * force; push[b][1] -= (dy / distance) * force;
  const over = { x: p.half + q.half - Math.abs(dx), y: 2 * RADIUS + 40 - Math.abs(dy) };
  if (over.x > 0 && over.y > 0) { // labels overlap: part along the shorter way
    force = 0.35 * Math.min(over.x, over.y);
    const axis = over.x < over.y ? 0 : 1;
    const way = Math.sign(axis ? dy : dx);
    push[a][axis] += way * force;
    push[b][axis] -= way * force;
  }
}
