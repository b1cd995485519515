// A pipeline schedule, run pass by pass; without links its idle share is that of the formula.

import {bubble} from "../formulas/bubble.js";
import {moments, percent, table, timeline, waits} from "./timeline.js";

const BACKWARD = 2; // forward passes that a backward pass takes
const SCHEDULES = [["gpipe", "GPipe"], ["1f1b", "1F1B"]];

export function scene() {
  const plain = (value) => String(value);
  return {
    controls: [
      {name: "schedule", label: "Schedule", options: SCHEDULES, value: "1f1b"},
      {name: "stages", label: "Stages", min: 2, max: 8, step: 1, value: 4, say: plain},
      {name: "microbatches", label: "Micro-batches", min: 1, max: 16, step: 1, value: 8, say: plain},
      {name: "link", label: "Time between stages", min: 0, max: 1, step: 0.05, value: 0, say: (share) => `${share} of a forward pass`},
    ],
    run({schedule, stages, microbatches, link}, width) {
      const bars = passes(schedule, stages, microbatches, link);
      const end = Math.max(...bars.map((bar) => bar.end));
      const idle = 1 - (microbatches * (1 + BACKWARD)) / end;
      const share = bubble({stages, microbatches, schedule, virtual: 1, forward: 1, backward_input: 1, backward_weight: 1}).fraction;
      const held = Math.max(...Array.from({length: stages}, (_, stage) => most(bars, stage)));
      const words = `A stage is idle for ${percent(idle)} of the step, and the first holds ${held} micro-batches at most. `
        + (link ? `With instant links it would be ${percent(share)}.` : `The formula says ${percent(share)}.`);
      const names = Array.from({length: stages}, (_, stage) => `stage ${stage + 1}`);
      const all = [...bars, ...names.flatMap((_, stage) => waits(stage, bars, end, ""))];
      const {picture, at} = timeline(names, all, end, width, words);
      const unit = (now) => `${Number(now.toFixed(1))} forward passes`;
      return {picture, end, words, steps: moments(bars), idle, rows: () => table(names, all, "forward passes"), at: (now) => at(now, unit(now)), moment: unit};
    },
  };
}

/** The order of the passes of a stage: F and B with the number of the micro-batch. */
function order(schedule, stage, stages, count) {
  const ahead = schedule === "gpipe" ? count : Math.min(stages - 1 - stage, count);
  const list = Array.from({length: ahead}, (_, n) => ["F", n]);
  for (let n = 0; n < count; n++) {
    if (ahead + n < count) list.push(["F", ahead + n]);
    list.push(["B", n]);
  }
  return list;
}

function passes(schedule, stages, count, link) {
  const orders = Array.from({length: stages}, (_, stage) => order(schedule, stage, stages, count));
  const done = new Map();
  const free = Array(stages).fill(0);
  const bars = [];
  const ready = (pass, n, stage) => {
    if (pass === "F") return stage ? done.get(`F${n}@${stage - 1}`) + link : 0;
    return stage < stages - 1 ? done.get(`B${n}@${stage + 1}`) + link : done.get(`F${n}@${stage}`);
  };
  while (orders.some((list) => list.length)) {
    for (let stage = 0; stage < stages; stage++) {
      const [pass, n] = orders[stage][0] ?? [];
      const from = pass ? ready(pass, n, stage) : undefined;
      if (from === undefined || Number.isNaN(from)) continue;
      orders[stage].shift();
      const start = Math.max(from, free[stage]);
      free[stage] = start + (pass === "F" ? 1 : BACKWARD);
      done.set(`${pass}${n}@${stage}`, free[stage]);
      bars.push({lane: stage, start, end: free[stage], text: `${n + 1}`, kind: pass === "F" ? "c0" : "c8", pass});
    }
  }
  return bars;
}

/** Micro-batches whose activations a stage holds at most. */
function most(bars, stage) {
  let [held, top] = [0, 0];
  for (const {pass} of bars.filter(({lane}) => lane === stage).sort((a, b) => a.start - b.start)) {
    held += pass === "F" ? 1 : -1;
    top = Math.max(top, held);
  }
  return top;
}
