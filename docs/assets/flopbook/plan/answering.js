// What the page of training asks its search for: the best layouts with their parts.

import {MOST_CHIPS, questionOf, widestBand} from "./asking.js";
import {heldParts, partsOf, plan, secondsByChunks, smallestCount} from "./search.js";
import {flop_per_token} from "./step_time.js";

/** The best layout of each of three divisions, with its parts; where none fits, the number of chips on which one does. */
export function trained(known, asked) {
  const question = questionOf(known, asked);
  const {layouts, tried} = plan(question, 3);
  const flop = flop_per_token(question.run, known.convention);
  const tokens = asked.batch * asked.seq;
  const band = bandOf(known, asked);
  const peak = question.run[known.formats[asked.dtype].peak]; // of the format, so that no MFU is above 1
  const shown = layouts.map((layout) => ({
    ...layout,
    low: layout.seconds / band,
    high: layout.seconds * band,
    mfu: tokens * flop / layout.seconds / asked.chips / peak,
    parts: partsOf(question, layout),
    held: heldParts(question, layout),
    chunks: layout.pp > 1 ? secondsByChunks(question, layout) : new Map(),
  }));
  const price = known.prices[asked.chip] ?? null;
  const facts = {band, flop, peak, room: question.run.memory, price, words: known.words, options: known.stacks[asked.stack].options};
  return {layouts: shown, tried, ...facts, enough: layouts.length ? null : smallestCount(question, MOST_CHIPS)};
}

/** The factor of the band: the widest that chip, model, software or format ask for. */
function bandOf(known, {chip, model, stack, dtype}) {
  return widestBand([known.chips[chip], known.models[model], known.stacks[stack], known.formats[dtype]], known);
}
