// One step of fully sharded training: weights of a layer are gathered ahead of their use, gradients are scattered behind it.
// scripts/website/figures/overlap.py states the same order of work, and a test holds both equal.

import {collective} from "../formulas/collective.js";
import {moments, percent, seconds, table, timeline, waits} from "./timeline.js";

const LAYERS = 4;
const NAMES = ["arithmetic", "network"];
const FLOP = 2; // of a parameter and a token in a forward pass; a backward pass takes twice that

export function scene({inputs, peak, params, bytes}) {
  return {
    controls: [
      {name: "tokens", label: "Tokens per chip", min: 6, max: 15, step: 0.25, value: 10, say: (power) => Math.round(2 ** power).toLocaleString("en")},
      {name: "chips", label: "Chips", min: 1, max: 10, step: 1, value: 3, say: (power) => (2 ** power).toLocaleString("en")},
      {name: "link", label: "Link of a chip", min: 10, max: 1800, step: 10, value: Math.round(inputs.link_bandwidth / 1e9), say: (gb) => `${gb} GB/s`},
    ],
    run(values, width) {
      const [tokens, chips] = [2 ** values.tokens, 2 ** values.chips];
      const given = {...inputs, chips, link_bandwidth: values.link * 1e9, bytes: params * bytes};
      const gather = collective({...given, op: "all-gather"}).seconds;
      const scatter = collective({...given, op: "reduce-scatter"}).seconds;
      const forward = (FLOP * params * tokens) / peak;
      const bars = step(forward, gather, scatter);
      const end = Math.max(...bars.map((bar) => bar.end));
      const idle = 1 - (3 * LAYERS * forward) / end;
      const words = idle < 0.005
        ? `The network hides behind the arithmetic: a step takes ${seconds(end)}, and the chip never waits.`
        : `The chip waits for ${percent(idle)} of a step of ${seconds(end)}: a layer takes ${seconds(forward)} to compute and ${seconds(gather)} to gather.`;
      const all = [...bars, ...waits(0, bars, end)];
      const {picture, at} = timeline(NAMES, all, end, width, words);
      return {picture, end, words, steps: moments(bars), idle, rows: () => table(NAMES, all, "s"), at: (now) => at(now, seconds(now)), moment: (now) => `${seconds(now)}; ${held(bars, now)}`};
    },
  };
}

/** The layers whose whole weights lie on the chip at a moment. */
function held(bars, now) {
  const layers = [];
  for (const gather of bars.filter(({text}) => text.startsWith("G"))) {
    const use = bars.find((bar) => bar.lane === 0 && bar.text.slice(1) === gather.text.slice(1) && bar.start >= gather.end - 1e-12);
    if (gather.start <= now && now < (use?.end ?? 0)) layers.push(gather.text.slice(1));
  }
  return layers.length ? `weights of layer ${layers.join(" and ")} on the chip` : "no whole layer on the chip";
}

function step(forward, gather, scatter) {
  const bars = [];
  const put = (lane, start, length, text, kind) => {
    if (length > 0) bars.push({lane, start, end: start + length, text, kind});
    return start + length;
  };
  let [core, wire, unsummed] = [0, 0, 0];
  const layers = Array.from({length: LAYERS}, (_, n) => n + 1);
  const work = [...layers.map((layer) => ["F", layer, forward, "c0"]), ...layers.toReversed().map((layer) => ["B", layer, 2 * forward, "c8"])];
  for (const [pass, layer, length, kind] of work) {
    wire = put(1, wire, gather, `G${layer}`, "c1");
    const ready = wire;
    if (unsummed) wire = put(1, Math.max(wire, core), scatter, `R${unsummed}`, "c6");
    core = put(0, Math.max(ready, core), length, `${pass}${layer}`, kind);
    unsummed = pass === "B" ? layer : 0;
  }
  put(1, Math.max(wire, core), scatter, `R${unsummed}`, "c6");
  return bars;
}
