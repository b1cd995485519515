// A question of the planner from what was chosen: chip, software, format and model put together.

const OPEN = (inputs) => Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, value === "inf" ? Infinity : value]));

/** The question as search.js takes it. Sizes are whole numbers; names are those of the record. */
export function questionOf(record, {model, chip, stack, dtype, chips, seq, batch}) {
  const given = [record.chips[chip], record.stacks[stack], record.formats[dtype], record.models[model]];
  const merged = (part) => Object.assign({}, record[part], ...given.map((one) => one[part]));
  return {
    run: {...merged("run"), chips, tokens: seq, inferred: []},
    memory: {...OPEN(merged("memory")), seq},
    parameters: record.parameters,
    uneven: record.uneven,
    chips,
    batch,
  };
}
