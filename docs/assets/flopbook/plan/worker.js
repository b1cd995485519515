// Plans beside the page, so that typing never waits for a search.

import {questionOf, record} from "./asking.js";
import {heldParts, partsOf, plan, smallestCount} from "./search.js";
import {flop_per_token} from "./step_time.js";

const MOST_CHIPS = 2 ** 20;

/** The best layouts with their parts; where none fits, the number of chips on which one does. */
function answered(known, asked) {
  const question = questionOf(known, asked);
  const {layouts, tried} = plan(question, 3);
  const flop = flop_per_token(question.run, known.convention);
  const tokens = asked.batch * asked.seq;
  const shown = layouts.map((layout) => ({
    ...layout,
    low: layout.seconds / known.band,
    high: layout.seconds * known.band,
    mfu: tokens * flop / layout.seconds / asked.chips / question.run.peak_16bit,
    parts: partsOf(question, layout),
    held: heldParts(question, layout),
  }));
  const price = known.prices[asked.chip] ?? null;
  const facts = {band: known.band, flop, peak: question.run.peak_16bit, room: question.run.memory, price, words: known.words, options: known.stacks[asked.stack].options};
  return {layouts: shown, tried, ...facts, enough: layouts.length ? null : smallestCount(question, MOST_CHIPS)};
}

addEventListener("message", async ({data: {id, asked}}) => {
  const known = await record();
  try {
    postMessage({id, answer: answered(known, asked)});
  } catch (error) {
    postMessage({id, problem: error.message});
  }
});
