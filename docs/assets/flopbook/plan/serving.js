// The best ways to serve a model: the same divisions, batches, pools and order as the package's plan
// of serving. Times and bytes are printed from Python (replicas.js); a test holds the first three
// equal over many questions.

import {MOST_CHIPS, OPEN, widestBand} from "./asking.js";
import {cache_bytes, held_bytes, prompt_parts, prompt_seconds, step_parts, step_seconds, transfer_seconds, weight_bytes} from "./replicas.js";
import {divisors, isEven} from "./spaces.js";

/** The question as the search takes it. Lengths are whole numbers; limits are in seconds. */
export function servingQuestion(known, {model, chip, dtype, chips, prompt, answer, first = Infinity, each = Infinity}) {
  const {serving} = known;
  const {peak, band: _, strange: __, ...widths} = serving.formats[dtype];
  const {cache_values, score_flop, seen, heads, kv_heads} = OPEN(serving.models[model]);
  const machine = {...known.chips[chip].run, domain: serving.domains[chip]};
  const base = {machine, shape: known.models[model].run, cache_values, score_flop, seen, ...widths, peak: machine[peak], prompt, answer};
  const room = machine.memory * serving.parameters.memory_used;
  const band = widestBand([serving.bands[chip], serving.formats[dtype], serving.models[model]], serving);
  return {base, heads, kv_heads, chips, room, first, each, band, parameters: serving.parameters, counts: serving.counts, uneven: known.uneven};
}

function replicaOf({base, kv_heads}, {tp, pp, dp, ep}) {
  return {case: base, kv_heads, tp, pp, dp, ep};
}

const size = ({tp, pp, dp}) => tp * pp * dp;

/** Every way to divide a replica whose chips divide all chips. Only a mixture has ranks of attention. */
function* divisionsOf({base: {shape}, chips}) {
  for (const tp of divisors(chips)) {
    for (const pp of divisors(chips / tp)) {
      for (const dp of shape.is_mixture ? divisors(chips / (tp * pp)) : [1]) {
        yield {tp, pp, dp, ep: 1};
        if (shape.is_mixture && tp * dp > 1) yield {tp, pp, dp, ep: tp * dp};
      }
    }
  }
}

function exists({base: {shape}, heads, uneven}, {tp, pp, ep}) {
  return heads % tp === 0 && isEven(uneven, shape.layers, pp) && (ep === 1 || shape.experts % ep === 0);
}

/** What a division reaches; what depends on the sequences of a rank is computed when asked for. */
class Paced {
  constructor(question, division) {
    this.replica = replicaOf(question, division);
    this.division = division;
    this.question = question;
    this.first = prompt_seconds(this.replica, 1, question.parameters);
    this.prompts = division.dp * division.pp / this.first;
    this.transfer = transfer_seconds(this.replica, question.parameters);
  }

  /** The fastest number of sequences that fits and keeps the limit of a token; null where none does. */
  best(rate) {
    let best = null;
    for (const sequences of this.question.counts) {
      const held = held_bytes(this.replica, sequences);
      if (held > this.question.room) break; // more sequences hold more
      const step = step_seconds(this.replica, sequences, this.question.parameters);
      if (step > this.question.each) continue;
      const found = rate(this, sequences, step);
      if (!best || found > best.rate) best = {sequences, held, step, rate: found};
    }
    return best;
  }
}

/** Seconds in which a replica reads the prompts of a batch: the last micro-batch is through when those before it have left the stages. */
function reading({replica, question}, sequences) {
  return prompt_seconds(replica, sequences, question.parameters) * (2 * replica.pp - 1) / replica.pp;
}

const writing = ({question, division}, sequences, step) => step + question.parameters.step_seconds + question.parameters.sequence_seconds * sequences * division.pp;
const batchOf = ({division}, sequences) => sequences * division.dp * division.pp;

/** Tokens a second of a replica that reads and writes, and of one that only writes. */
function together(one, sequences, step) {
  const {answer} = one.question.base;
  return batchOf(one, sequences) * answer / (reading(one, sequences) + answer * writing(one, sequences, step));
}
const alone = (one, sequences, step) => batchOf(one, sequences) / writing(one, sequences, step);

/** The best ways to serve: {layouts, tried}. */
export function planServing(question, top = 3) {
  const divisions = [...divisionsOf(question)];
  const paced = divisions.filter((one) => exists(question, one)).map((one) => new Paced(question, one));
  const layouts = [...inOnePool(question, paced), ...inTwoPools(question, paced)];
  layouts.sort((a, b) => b.tokens_per_s - a.tokens_per_s || a.prefill_replicas - b.prefill_replicas
    || a.tp - b.tp || a.pp - b.pp || a.dp - b.dp || a.ep - b.ep);
  return {layouts: layouts.slice(0, top), tried: divisions.length * question.counts.length};
}

function* inOnePool(question, paced) {
  for (const one of paced) {
    if (one.first > question.first) continue;
    const best = one.best(together);
    if (!best) continue;
    const replicas = question.chips / size(one.division);
    yield layoutOf(one, best, replicas, best.rate * replicas, one.first);
  }
}

/** The best split of the chips for each size of a replica that reads and of one that writes. */
function inTwoPools(question, paced) {
  const readers = new Map();
  const writers = new Map();
  for (const one of paced) {
    const count = size(one.division);
    const isLate = one.first + one.transfer > question.first;
    const holds = held_bytes(one.replica, 1) <= question.room;
    if (holds && !isLate && !(one.prompts <= readers.get(count)?.prompts)) readers.set(count, one);
    const best = one.best(alone);
    if (best && !(best.rate <= writers.get(count)?.best.rate)) writers.set(count, {one, best});
  }
  return [...readers.values()].flatMap((reader) => [...writers.values()].map(({one, best}) => split(question, reader, one, best)).filter(Boolean));
}

/** The numbers of replicas of both kinds that write most; null where they do not use all chips. */
function split(question, reader, writer, best) {
  const [reads, writes] = [size(reader.division), size(writer.division)];
  let found = null;
  for (let writers = 1; writers <= Math.floor(question.chips / writes); writers++) {
    const left = question.chips - writers * writes;
    const readers = left / reads;
    if (left % reads || !readers) continue;
    const total = Math.min(readers * reader.prompts * question.base.answer, writers * best.rate);
    if (!found || total > found.total) found = {total, writers, readers};
  }
  if (!found) return null;
  const layout = layoutOf(writer, best, found.writers, found.total, reader.first + reader.transfer);
  return {...layout, prefill: reader.division, prefill_replicas: found.readers, prompts_per_s: reader.prompts, transfer: reader.transfer};
}

function layoutOf(one, {sequences, held, step}, replicas, total, first) {
  return {
    ...one.division, replicas, sequences, batch: batchOf(one, sequences), tokens_per_s: total, first_token: first, per_token: step,
    bytes: held, prefill: null, prefill_replicas: 0,
  };
}

/** What a layout is made of: the parts of a token, of the first one, and of the memory. */
export function partsOfServing(question, layout) {
  const {parameters} = question;
  const writer = replicaOf(question, layout);
  const reader = replicaOf(question, layout.prefill ?? layout);
  const paced = {replica: writer, question};
  return {
    token: step_parts(writer, layout.sequences, parameters),
    first: {...prompt_parts(reader, 1, parameters), transfer: layout.transfer ?? 0},
    held: {weights: weight_bytes(writer), cache: cache_bytes(writer, layout.sequences)},
    reading: reading(paced, layout.sequences),
    scheduling: parameters.step_seconds,
  };
}

/** Whether some replica holds the weights and a sequence on each rank. */
function fits(question) {
  return [...divisionsOf(question)].some((one) => exists(question, one) && held_bytes(replicaOf(question, one), 1) <= question.room);
}

/** The smallest number of chips that holds the model, as the planner of training finds it; null where even `most` do not. */
export function smallestServing(question, most) {
  for (let chips = 2 * question.chips; chips <= most; chips *= 2) {
    if (!fits({...question, chips})) continue;
    for (let step = 1; step < 8; step++) {
      const count = chips / 2 + Math.floor((chips / 2) * step / 8);
      if (fits({...question, chips: count})) return count;
    }
    return chips;
  }
  return null;
}

/** The answer for the page: layouts with their parts; where none fits, on how many chips and in which format one would. */
export function served(known, asked) {
  const question = servingQuestion(known, asked);
  const {serving} = known;
  const {layouts, tried} = planServing(question);
  const shown = layouts.map((layout) => ({
    ...layout,
    low: layout.tokens_per_s / question.band,
    high: layout.tokens_per_s * question.band,
    ...partsOfServing(question, layout),
  }));
  const facts = {band: question.band, room: question.room, memory: question.base.machine.memory, used: serving.parameters.memory_used, words: serving.words};
  const holds = layouts.length > 0 || fits(question);
  const narrower = holds ? null : narrowest(known, asked);
  return {layouts: shown, tried, ...facts, price: known.prices[asked.chip] ?? null, holds, narrower, enough: holds ? null : smallestServing(question, MOST_CHIPS)};
}

/** The widest format below the one asked for in which the model fits; null where there is none. */
function narrowest(known, asked) {
  const names = Object.keys(known.serving.formats);
  return names.slice(names.indexOf(asked.dtype) + 1).find((dtype) => fits(servingQuestion(known, {...asked, dtype}))) ?? null;
}
