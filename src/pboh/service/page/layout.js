// Which mentions the graph draws, and where: ties pull, nodes push, and no label covers another.

export const RADIUS = 17;
const TOP = RADIUS + 8; // above the middle of a node
const BOTTOM = RADIUS + 36; // below it: the two lines of its label
const GAP = 8;

// All mentions while there is room; else the chosen one (or the best connected) and its strongest ties.
// An entity is drawn once.
export function selection(everyone, ties, chosen, width, entityOf) {
  const [room, few] = width < 560 ? [12, 8] : [24, 14];
  if (everyone.length <= room) return everyone;
  const centre = everyone.includes(chosen) ? chosen : bestConnected(everyone, ties);
  const picked = new Map([[entityOf(centre), centre]]);
  for (const { a, b } of ties) {
    const other = a === centre ? b : b === centre ? a : null;
    if (other === null || picked.has(entityOf(other))) continue;
    if (picked.size === few) break;
    picked.set(entityOf(other), other);
  }
  return [...picked.values()];
}

function bestConnected(everyone, ties) {
  const total = new Map(everyone.map((i) => [i, 0]));
  for (const { a, b, value } of ties) for (const i of [a, b]) total.set(i, total.get(i) + value);
  return everyone.reduce((best, i) => (total.get(i) > total.get(best) ? i : best));
}

// Places for nodes ({ half: half the width of the label }) and the height they need; the same for the same document.
export function layout(nodes, ties, width) {
  const spots = nodes.map((node, k) => {
    const angle = (2 * Math.PI * k) / nodes.length - Math.PI / 2;
    return { ...node, x: Math.cos(angle), y: Math.sin(angle) };
  });
  for (let step = 0; step < 250; step += 1) spread(spots, ties, 0.2 * (1 - step / 250));
  const height = Math.max(220, 130 + (width < 560 ? 40 : 24) * spots.length);
  fit(spots, width, height);
  for (let step = 0; step < 240; step += 1) {
    part(spots);
    for (const spot of spots) keepInside(spot, width, height);
  }
  return { spots, height: settle(spots) };
}

function pairs(n, act) {
  for (let a = 0; a < n; a += 1) for (let b = a + 1; b < n; b += 1) act(a, b);
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
  pairs(spots.length, (a, b) => act(a, b, (d) => 1 / Math.max(d, 0.05)));
  for (const [a, b, weight] of ties) act(a, b, (d) => -(0.15 + 0.5 * weight) * d * d * share);
  spots.forEach((spot, k) => {
    const size = Math.hypot(...force[k]) || 1;
    const step = Math.min(size, heat);
    spot.x += (force[k][0] / size) * step;
    spot.y += (force[k][1] / size) * step;
  });
}

// Stretch the plane over the picture.
function fit(spots, width, height) {
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = range(spots.map((s) => s.x));
  const [top, bottom] = range(spots.map((s) => s.y));
  const side = Math.max(...spots.map((s) => s.half));
  for (const spot of spots) {
    spot.x = right - left < 1e-6 ? width / 2 : side + ((spot.x - left) / (right - left)) * (width - 2 * side);
    spot.y = bottom - top < 1e-6 ? height / 2 : TOP + ((spot.y - top) / (bottom - top)) * (height - TOP - BOTTOM);
    keepInside(spot, width, height);
  }
}

function keepInside(spot, width, height) {
  spot.x = Math.min(width - spot.half, Math.max(spot.half, spot.x));
  spot.y = Math.min(height - BOTTOM, Math.max(TOP, spot.y));
}

const overlap = (p, q) => [p.half + q.half + GAP - Math.abs(p.x - q.x), TOP + BOTTOM - Math.abs(p.y - q.y)];

// Move overlapping nodes with their labels apart, along the shorter way.
function part(spots) {
  pairs(spots.length, (a, b) => {
    const [p, q] = [spots[a], spots[b]];
    const [overX, overY] = overlap(p, q);
    if (overX <= 0 || overY <= 0) return;
    const axis = overX < overY ? "x" : "y";
    const step = 0.3 * Math.min(overX, overY) * (p[axis] < q[axis] ? -1 : 1);
    p[axis] += step;
    q[axis] -= step;
  });
}

// What still overlaps moves down until it does not; the picture grows with it. Returns its height.
function settle(spots) {
  const placed = [];
  for (const spot of [...spots].sort((p, q) => p.y - q.y)) {
    const inTheWay = () => placed.find((other) => overlap(spot, other).every((over) => over > 0.5));
    for (let other = inTheWay(); other; other = inTheWay()) spot.y = other.y + TOP + BOTTOM;
    placed.push(spot);
  }
  return Math.max(0, ...spots.map((spot) => spot.y)) + BOTTOM;
}
