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
    const height = Math.min(900, Math.max(300, 170 + (width < 560 ? 40 : 26) * this.shown.length));
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

// Places by forces, always the same for the same document: ties pull, nodes push, and labels keep apart.
function layout(shown, data, width, height) {
  const edge = { top: RADIUS + 8, bottom: RADIUS + 34 };
  const spots = shown.map((i, k) => {
    const angle = (2 * Math.PI * k) / shown.length - Math.PI / 2;
    const label = Math.min(24, Math.max(6, ...data.mentions[i].candidates.map((c) => Math.min(c.entity.length, 24))));
    return { i, x: Math.cos(angle), y: Math.sin(angle), half: Math.min(12 + 3.3 * label, width / 4) };
  });
  const place = new Map(spots.map((spot, k) => [spot.i, k]));
  const strongest = Math.max(1e-9, ...data.edges.map((e) => e.value));
  const ties = data.edges.filter((e) => place.has(e.a) && place.has(e.b)
    && data.mentions[e.a].answer === e.x && data.mentions[e.b].answer === e.y)
    .map((e) => [place.get(e.a), place.get(e.b), e.value / strongest]);
  for (let step = 0; step < 250; step += 1) spread(spots, ties, 0.2 * (1 - step / 250));
  fit(spots, width, height, edge);
  for (let step = 0; step < 240; step += 1) {
    part(spots);
    for (const spot of spots) {
      spot.x = Math.min(width - spot.half, Math.max(spot.half, spot.x));
      spot.y = Math.min(height - edge.bottom, Math.max(edge.top, spot.y));
    }
  }
  return new Map(spots.map((spot) => [spot.i, [spot.x, spot.y]]));
}

// One step of the forces, in a plane without units.
function spread(spots, ties, heat) {
  const share = Math.min(1, (3 * spots.length) / Math.max(1, 2 * ties.length)); // dense graphs would collapse
  const force = spots.map((spot) => [-0.6 * spot.x, -0.6 * spot.y]);
  const act = (a, b, strength) => {
    const [dx, dy] = [spots[a].x - spots[b].x || 1e-3, spots[a].y - spots[b].y];
    const distance = Math.hypot(dx, dy);
    const [fx, fy] = [(dx / distance) * strength(distance), (dy / distance) * strength(distance)];
    force[a][0] += fx; force[a][1] += fy; force[b][0] -= fx; force[b][1] -= fy;
  };
  for (let a = 0; a < spots.length; a += 1) for (let b = a + 1; b < spots.length; b += 1) act(a, b, (d) => 1 / Math.max(d, 0.05));
  for (const [a, b, weight] of ties) act(a, b, (d) => -(0.15 + 0.5 * weight) * d * d * share);
  spots.forEach((spot, k) => {
    const size = Math.hypot(...force[k]) || 1;
    const step = Math.min(size, heat);
    spot.x += (force[k][0] / size) * step;
    spot.y += (force[k][1] / size) * step;
  });
}

// Stretch the plane over the picture.
function fit(spots, width, height, edge) {
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = range(spots.map((s) => s.x));
  const [top, bottom] = range(spots.map((s) => s.y));
  const side = Math.max(...spots.map((s) => s.half));
  for (const spot of spots) {
    spot.x = right - left < 1e-6 ? width / 2 : side + ((spot.x - left) / (right - left)) * (width - 2 * side);
    spot.y = bottom - top < 1e-6 ? height / 2 : edge.top + ((spot.y - top) / (bottom - top)) * (height - edge.top - edge.bottom);
  }
}

// Move overlapping nodes with their labels apart, along the shorter way.
function part(spots) {
  for (let a = 0; a < spots.length; a += 1) for (let b = a + 1; b < spots.length; b += 1) {
    const [p, q] = [spots[a], spots[b]];
    const [dx, dy] = [p.x - q.x, p.y - q.y];
    const [overX, overY] = [p.half + q.half - Math.abs(dx), 2 * RADIUS + 38 - Math.abs(dy)];
    if (overX <= 0 || overY <= 0) continue;
    const axis = overX < overY ? "x" : "y";
    const way = (axis === "x" ? dx : dy) < 0 ? -1 : 1;
    const step = 0.3 * Math.min(overX, overY);
    p[axis] += way * step;
    q[axis] -= way * step;
  }
}
