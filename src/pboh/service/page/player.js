// Belief propagation played round by round over the graph.

import { $, count, enable } from "./dom.js";
import { state } from "./session.js";

let timer = null;

export function showRound(graph) {
  const { round, last, live, shown, everyone } = graph;
  $("round").max = last;
  $("round").value = round;
  const where = round === 0 ? "each name on its own" : `round ${round} of ${last}`;
  const ended = round === last && last > 0 ? (state.data.converged ? ", converged" : ", not converged") : "";
  const part = shown.length < everyone.length ? `strongest ties of “${state.data.mentions[shown[0]].text}” · ` : "";
  $("round-facts").textContent = everyone.length ? `${part}${where}${ended} · ${count(live, "tie")}` : "";
  $("round").setAttribute("aria-valuetext", where);
  enable("back", round > 0);
  enable("forth", round < last);
}

export function go(graph, round) {
  if (!state.data) return;
  graph.go(round, state.chosen);
  showRound(graph);
}

export function stop() {
  clearInterval(timer);
  timer = null;
  $("play").textContent = "▶ Play";
}

export function play(graph) {
  if (timer) { stop(); return; }
  if (!state.data?.rounds.length) return;
  go(graph, 0);
  $("play").textContent = "❚❚ Pause";
  timer = setInterval(() => {
    if (graph.round >= graph.last) { stop(); return; }
    go(graph, graph.round + 1);
  }, 900);
}
