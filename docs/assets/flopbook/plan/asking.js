// A question of the planner from what was chosen: chip, software, format and model put together.

export const MOST_CHIPS = 2 ** 20;
let fetched;

/** The record of the planner, fetched once. */
export function record() {
  fetched ??= fetch(new URL("./plan.json", import.meta.url)).then((answer) => answer.json());
  return fetched;
}

/** Tokens of a sequence and of a step where none are typed: no longer than the model was made for. */
export function usual({usual: {seq, tokens}, models}, model) {
  const length = Math.min(seq, models[model].context ?? seq);
  return {seq: length, tokens: tokens - tokens % length};
}

/** What is open, an infinity, is a word in the record. */
export const OPEN = (inputs) => Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, value === "inf" ? Infinity : value]));

/** The question as search.js takes it. Sizes are whole numbers; names are those of the record. */
export function questionOf(known, {model, chip, stack, dtype, chips, seq, batch}) {
  const given = [known.chips[chip], known.stacks[stack], known.formats[dtype], known.models[model]];
  const merged = (part) => Object.assign({}, known[part], ...given.map((one) => one[part]));
  const run = merged("run");
  return {
    run: {...run, chips, tokens: seq, slices: run.is_torus ? Math.ceil(chips / run.domain) : 1, inferred: []},
    memory: {...OPEN(merged("memory")), seq},
    parameters: known.parameters,
    uneven: known.uneven,
    chips,
    batch,
  };
}

/** The widest band of some facts; where too many are unlike all fitted runs, that of strangers. */
export function widestBand(facts, {strangers, most_strange}) {
  const strange = facts.reduce((count, fact) => count + fact.strange, 0);
  return Math.max(...facts.map((fact) => fact.band), strange > most_strange ? strangers : 1);
}
