// The best layouts of a run, out of the whole space: the same space, times, bytes and order as the
// package's planner. Times and rules are printed from Python (step_time.js, rules.js), memory is the
// formula of its calculator; a test holds the first three divisions equal over many questions.

import {memory} from "../formulas/memory.js";
import {divisors, isEven} from "./spaces.js";
import {run_of, step_parts} from "./step_time.js";
import {batches_hold, chunks_hold, context_holds, degrees_hold, stages_hold, tensor_holds} from "./rules.js";

// ZeRO stages over all replicas, and FSDP over those of one domain of fast links (HSDP).
const SHARDINGS = [...[0, 1, 2, 3].map((zero) => ({zero, isHybrid: false})), {zero: 3, isHybrid: true}];
const RECOMPUTE = ["none", "selective", "full"];

/** Every way to write the chips as a product of degrees that heads, experts, layers and sequence allow. */
function degreesOf({run, memory: inputs, chips}) {
  const found = [];
  const experts = divisors(Math.max(run.experts, 1));
  const tried = {...inputs}; // one for all: a copy for each would take longer than the search
  for (const tp of divisors(chips)) {
    tried.tp = tp;
    if (run.ffn_width % tp || !tensor_holds(tried)) continue;
    for (const pp of divisors(chips / tp)) {
      tried.pp = pp;
      if (!stages_hold(tried)) continue;
      for (const cp of divisors(chips / (tp * pp))) {
        tried.cp = cp;
        if (!context_holds(tried)) continue;
        const dp = chips / (tp * pp * cp);
        tried.dp = dp;
        for (const ep of experts) {
          tried.ep = ep;
          if (degrees_hold(tried)) found.push({tp, pp, cp, ep, dp});
        }
      }
    }
  }
  return found;
}

/** Schedules with the numbers of chunks with which some pipeline is even. */
function chunksOf({run: {layers}, uneven}, degrees) {
  const counts = new Set();
  for (const pp of new Set(degrees.map((one) => one.pp))) {
    for (let chunks = 2 * pp; pp > 1 && chunks <= layers; chunks += pp) {
      if (isEven(uneven, layers, chunks)) counts.add(chunks / pp);
    }
  }
  const interleaved = [...counts].sort((a, b) => a - b).map((virtual) => ({schedule: "interleaved", virtual}));
  return [{schedule: "1f1b", virtual: 1}, ...interleaved];
}

/** The layouts that exist before ZeRO stage and recomputation, in the order of the package; each with the degrees it is of. */
function* cellsOf(question, degrees = degreesOf(question)) {
  const {memory: inputs, run, batch, uneven} = question;
  const sizes = divisors(batch);
  const tried = {...inputs};
  for (const {schedule, virtual} of chunksOf(question, degrees)) {
    for (const one of degrees) {
      if (one.pp === 1 && schedule !== "1f1b") continue;
      if (!isEven(uneven, run.layers, one.pp * virtual)) continue;
      Object.assign(tried, one, {schedule, virtual});
      if (!chunks_hold(tried)) continue;
      for (const micro_batch of sizes) {
        const microbatches = batch / (one.dp * micro_batch);
        if (microbatches % 1) continue;
        tried.microbatches = microbatches;
        if (!batches_hold(tried)) continue;
        const {tp, pp, cp, ep, dp} = one;
        yield {degrees: one, tp, pp, cp, ep, dp, schedule, virtual, micro_batch, microbatches};
      }
    }
  }
}

/** Groups of replicas that each hold everything; 0 where a layout cannot be sharded so. */
function groupsOf({run: {domain}}, {tp, pp, cp, ep, dp}, {zero, isHybrid}) {
  if (zero && dp * cp === 1) return 0;
  if (zero === 2 && pp > 1) return 0; // gradients add up whole in a pipeline, as under stage 1
  if (!isHybrid) return 1;
  const groups = (dp * cp * tp) / domain;
  return groups > 1 && groups % 1 === 0 && dp % groups === 0 && ((dp * cp) / groups) % ep === 0 ? groups : 0;
}

/** Seconds of a step: the sum of its parts in their order, named one by one: a loop over names takes as long as a step. */
function total({products, experts, attention, elementwise, tensor_parallel, context_parallel, expert_parallel, pipeline_sends, launches, head, gathers, bubble, gradients, optimizer, offload, straggling}) {
  return products + experts + attention + elementwise + tensor_parallel + context_parallel + expert_parallel + pipeline_sends + launches + head + gathers + bubble + gradients + optimizer + offload + straggling;
}

/** A run of a question as the parts of a step take it, before a layout is put in. */
function runOf({run}) {
  const layout = {tp: 1, pp: 1, cp: 1, ep: 1, dp: 1, virtual: 1, micro_batch: 1, micro_batches: 1, zero: 0, hsdp: 1, recompute: "none", schedule: "1f1b"};
  return run_of({...run, ...layout});
}

/** Put the degrees of a layout into the inputs of a formula, one by one: Object.assign takes as long as the formula. */
function divide(inputs, {tp, pp, cp, ep, dp, schedule, virtual, micro_batch, microbatches}) {
  inputs.tp = tp;
  inputs.pp = pp;
  inputs.cp = cp;
  inputs.ep = ep;
  inputs.dp = dp;
  inputs.schedule = schedule;
  inputs.virtual = virtual;
  inputs.micro_batch = micro_batch;
  inputs.micro_batches = microbatches; // as a step calls them
  inputs.microbatches = microbatches; // as the memory does
}

/** Put into the inputs of a formula how the states are divided and what is computed again. */
function shard(inputs, zero, hsdp, recompute) {
  inputs.zero = zero;
  inputs.hsdp = hsdp;
  inputs.recompute = recompute;
}

/** The parts of the step of one layout, in seconds, by name. */
export function partsOf(question, layout) {
  const run = runOf(question);
  divide(run, layout);
  shard(run, layout.zero, layout.hsdp, layout.recompute);
  return step_parts(run, question.parameters);
}

/** The memory of one layout by part, in bytes. */
export function memoryOf(question, layout) {
  return memory({...question.memory, ...layout});
}

/** The bytes of any layout of a question, by one set of inputs for all: a copy for each takes longer than the sum. */
function bytesOf(question) {
  const inputs = {...question.memory};
  return (cell, zero, hsdp, recompute) => {
    divide(inputs, cell);
    shard(inputs, zero, hsdp, recompute);
    return memory(inputs).total;
  };
}

/** Parts of the memory that add up to its total: of a pipeline the formula gives those of both ends. */
export function heldParts(question, layout) {
  const {total: whole, inflight, free, ...parts} = memoryOf(question, layout);
  const beyond = Object.values(parts).reduce((sum, size) => sum + size, 0) - whole;
  if (beyond <= 1e-9 * whole) return parts;
  const isFirst = Math.abs(beyond - parts.logits) <= 1e-9 * whole;
  return isFirst ? {...parts, logits: 0} : {...parts, activations: parts.activations - beyond};
}

/**
 * What no way to shard the states of a cell is faster than, from the parts of its step without sharding; and what no way to
 * recompute is faster than, nor any cell of the same degrees and micro-batches with more chunks. The parts in `common` are the same
 * for all ZeRO stages. Recomputation lengthens `body` as a whole, and so do more chunks, whose stages hold as many layers or more;
 * these shorten the bubble. No part is ever below zero, and with nothing to gather the bubble is the shortest.
 * tests/prediction/test_least_seconds.py holds that. Named one by one: a loop over names takes as long as a step.
 */
function leastSeconds({products, experts, attention, elementwise, tensor_parallel, context_parallel, expert_parallel, pipeline_sends, launches, head, bubble, straggling}, seconds) {
  const body = products + experts + attention + elementwise + tensor_parallel + expert_parallel + pipeline_sends + context_parallel + launches;
  const common = body + head;
  const slower = seconds / (seconds - straggling) * ROUNDING;
  const idle = 1 + bubble / common;
  return {sharded: common * slower * idle, recomputed: body * slower * idle, chunked: body * slower};
}

const ROUNDING = 1 - 1e-9;
const SAMPLED = 32; // one cell of so many

/**
 * The fastest layout that fits of each of the fastest ways to divide the chips: {layouts, tried}. `tried` counts the layouts that
 * exist.
 */
export function plan(question, top = 3) {
  const divisions = new Map(degreesOf(question).map((degrees) => [degrees, divisionOf(question, degrees)]));
  const cells = [...cellsOf(question, [...divisions.keys()])];
  // A few cells tell how fast the list is at least, so that of the others most are left out from the first on.
  const sample = fastest(question, divisions, cells.filter((_, place) => place % SAMPLED === 0), top, Infinity);
  return fastest(question, divisions, cells, top, sample.layouts[top - 1]?.seconds ?? Infinity);
}

/**
 * The plan of some cells, for a list of which none is slower than `limit`. Those that are slower than that or than the last
 * one that is kept, or than another of their division, cannot come into the list, so their memory is never computed; nor are
 * the times of those of cells in which nothing is fast enough.
 */
function fastest(question, divisions, cells, top, limit) {
  const best = [];
  let tried = 0;
  const run = runOf(question);
  const held = bytesOf(question);
  const isSlow = (seconds) => seconds > limit || (best.length === top && seconds >= best[top - 1].seconds);
  for (const cell of cells) {
    const {shardings, chunked} = divisions.get(cell.degrees);
    tried += shardings.length * RECOMPUTE.length;
    if (cell.virtual > 1 && isSlow(chunked.get(cell.micro_batch))) continue;
    divide(run, cell);
    let least; // of the cell, by recomputation: seconds that no way to shard it undercuts
    for (const {zero, hsdp} of shardings) { // the first of them shards nothing
      for (const recompute of RECOMPUTE) {
        const isFirst = !zero && recompute === "none";
        if (!isFirst && isSlow(least[recompute])) continue;
        shard(run, zero, hsdp, recompute);
        const parts = step_parts(run, question.parameters);
        const seconds = total(parts);
        if (!zero) {
          const bounds = leastSeconds(parts, seconds);
          if (isFirst) least = {none: bounds.sharded, selective: bounds.recomputed, full: bounds.recomputed};
          else least[recompute] = bounds.sharded;
          if (isFirst && cell.virtual === 1) chunked.set(cell.micro_batch, bounds.chunked);
        }
        if (isSlow(seconds) || best.some((one) => one.seconds <= seconds && isAlike(one, cell))) continue;
        const bytes = held(cell, zero, hsdp, recompute);
        if (bytes > question.run.memory) continue;
        const {degrees, ...layout} = cell;
        insert(best, {...layout, zero, hsdp, recompute, seconds, bytes}, top);
      }
    }
  }
  return {layouts: best, tried};
}

/** What all cells of some degrees share: how their states may be sharded, and by micro-batch what more chunks do not undercut. */
function divisionOf(question, degrees) {
  const shardings = SHARDINGS.map((one) => ({zero: one.zero, hsdp: groupsOf(question, degrees, one)}));
  return {shardings: shardings.filter(({hsdp}) => hsdp), chunked: new Map()};
}

/** Whether two layouts divide the chips in one way. */
const isAlike = (one, other) => ["tp", "pp", "cp", "ep", "dp"].every((name) => one[name] === other[name]);

/** Keep a layout behind those that take as long, in the place of the slower one of its division: of equal times the first in the space counts. */
function insert(best, layout, top) {
  const slower = best.findIndex((one) => isAlike(one, layout));
  if (slower >= 0) best.splice(slower, 1);
  let place = best.length;
  while (place && best[place - 1].seconds > layout.seconds) place--;
  best.splice(place, 0, layout);
  if (best.length > top) best.pop();
}

/** Seconds of the fastest layout that fits for each number of chunks of a division, as a map. */
export function secondsByChunks(question, {tp, pp, cp, ep, dp}) {
  const run = runOf(question);
  const held = bytesOf(question);
  const fastest = new Map();
  for (const cell of cellsOf(question, [{tp, pp, cp, ep, dp}])) {
    divide(run, cell);
    for (const sharding of SHARDINGS) {
      const hsdp = groupsOf(question, cell, sharding);
      if (!hsdp) continue;
      for (const recompute of RECOMPUTE) {
        shard(run, sharding.zero, hsdp, recompute);
        const seconds = total(step_parts(run, question.parameters));
        if (seconds >= (fastest.get(cell.virtual) ?? Infinity) || held(cell, sharding.zero, hsdp, recompute) > question.run.memory) continue;
        fastest.set(cell.virtual, seconds);
      }
    }
  }
  return fastest;
}

/** Whether any layout fits. */
function fits(question) {
  const held = bytesOf(question);
  for (const cell of cellsOf(question)) {
    for (const sharding of SHARDINGS) {
      const hsdp = groupsOf(question, cell, sharding);
      if (!hsdp) continue;
      const {zero} = sharding;
      if (RECOMPUTE.some((recompute) => held(cell, zero, hsdp, recompute) <= question.run.memory)) return true;
    }
  }
  return false;
}

/**
 * The smallest number of chips on which some layout fits, of those that are tried: doubles of the
 * chips asked for, and eighths between the last two of them. Null where even `most` do not suffice.
 */
export function smallestCount(question, most) {
  const enough = (chips) => fits({...question, chips, run: {...question.run, chips}});
  for (let chips = 2 * question.chips; chips <= most; chips *= 2) {
    if (!enough(chips)) continue;
    for (let step = 1; step < 8; step++) {
      const count = chips / 2 + Math.floor((chips / 2) * step / 8);
      if (enough(count)) return count;
    }
    return chips;
  }
  return null;
}
