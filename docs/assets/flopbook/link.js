// What a link says of a form, and what the first example adds where the link is silent.

const NEUTRAL = {dtype: "bf16", sparsity: "dense"};
const SERVING = ["tp", "dp", "ep"]; // the degrees of an engine, none of which takes what the others leave

export const inner = (name) => name.replaceAll("-", "_");
export const outer = (name) => name.replaceAll("_", "-");

/** The value of a field that says nothing. */
export function neutral(spec, name) {
  const input = spec.inputs.find((i) => i.name === name);
  return NEUTRAL[name] ?? (input?.choices.length && !input.model && !input.chip ? input.default ?? input.choices[0] : "");
}

export function example(spec) {
  return new Map(Object.entries(spec.example).map(([key, value]) => [inner(key), value]));
}

/** The state that a link asks for: the first example where it asks for nothing. */
export function asked(search, spec, names) {
  const said = new Map();
  for (const [key, value] of new URLSearchParams(search)) if (names.has(inner(key))) said.set(inner(key), value);
  const state = new Map(said);
  for (const [name, value] of example(spec)) {
    if (!said.has(name) && (!said.size || belongs(spec, said, name))) state.set(name, value);
  }
  return state;
}

/** No chip of the example beside a typed bandwidth, no axes of the example's chip beside another chip; so for models. */
function belongs(spec, said, name) {
  const typed = spec.inputs.some((input) => input[name] && said.get(input.name));
  const input = spec.inputs.find((i) => i.name === name);
  const other = ["chip", "model", "dtype"].some((picker) => input?.[picker] && said.has(picker));
  // A number of chips and the degrees that make it say the same.
  const degrees = spec.divides.length ? spec.divides.slice(0, 1) : SERVING;
  const twice = name === "chips" ? degrees.some((degree) => said.has(degree)) : degrees.includes(name) && said.has("chips");
  return !typed && !other && !twice;
}

/** What differs from an empty form; for a link also what the example has and this form has not. */
export function pairs(spec, fields, link = false) {
  const first = example(spec);
  const found = [];
  for (const [name, {control}] of fields) {
    const value = control.value.trim();
    const empty = neutral(spec, name);
    const cleared = link && (first.get(name) ?? empty) !== empty;
    if (value !== empty || cleared) found.push([outer(name), value]);
  }
  return found;
}

/** The option of a choice that a text names, by id, product or alias; undefined where none does. */
export function named(text, control, entries) {
  const wanted = text.trim().toLowerCase();
  const options = [...control.options].map((o) => o.value);
  return options.find((value) => value.toLowerCase() === wanted) ?? entries.find((e) => names(e).includes(wanted))?.id;
}

function names({id, aliases}) {
  const [vendor, product] = id.split("/");
  const all = [product ?? id, ...aliases].map((name) => name.toLowerCase());
  return [...all, ...all.map((name) => `${vendor}/${name}`)];
}
