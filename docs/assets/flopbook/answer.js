// The answer of a calculator: each output with its meaning, and what must be known beside it.

import {el, filled} from "./dom.js";
import {brief, label} from "./fields.js";
import {inner} from "./link.js";
import {left, notes} from "./notes.js";
import {binaryBytes, typeset, written} from "./quantity.js";
import {degrees} from "./values.js";

/** The answer as elements; `state` has resolved inputs, the result, the chip and whether a sparse peak was asked for. */
export function answer(spec, data, state) {
  const list = el("dl", {class: "fb-results"}, ...rows(singles(spec), state));
  const told = notes(spec, data, state);
  const known = told.length ? [el("ul", {class: "fb-notes", "aria-label": "Notes"}, ...told.map((note) => el("li", {}, spoken(spec, data, note))))] : [];
  const head = headline(spec, state);
  return [...head, ...misfit(spec, state), ...bar(spec, state), ...beside(spec, state), ...all(singles(spec), list, head.length > 0), ...known];
}

/** A calculator without the outputs that are columns of tables. */
function singles(spec) {
  return {...spec, outputs: spec.outputs.filter(({table}) => !table)};
}

/** Outputs that are columns, a table each; a column without any value is left out. */
export function tables(spec, data, {result}) {
  const names = new Set(spec.outputs.map(({table}) => table).filter(Boolean));
  return [...names].map((name) => {
    const columns = spec.outputs.filter(({table, name: column}) => table === name && result[column].some((value) => value !== null));
    const cell = (output, n) => {
      const value = result[output.name][n];
      const label = brief(output.meaning);
      const text = value === null ? "" : named(data, worded(spec, {...output, table: ""}, value));
      if (output === columns[0]) return el("th", {scope: "row"}, text);
      return el("td", {"data-label": label, class: typeof value === "number" ? "fb-n" : null}, text);
    };
    const head = el("tr", {}, ...columns.map(({name: column, meaning}) => el("th", {scope: "col", "data-output": column, "data-value": result[column].join("; ")}, brief(meaning))));
    const body = result[columns[0].name].map((_, n) => el("tr", {}, ...columns.map((output) => cell(output, n))));
    const table = el("table", {"data-table": name}, el("thead", {}, head), el("tbody", {}, ...body));
    return el("div", {class: "fb-scroll fb-stacked", tabindex: 0, role: "region", "aria-label": `Table of ${name}`}, table);
  });
}

/** A text with the names of chips and models in place of their ids. */
function named({chips = [], models = []}, text) {
  const entries = new Map([...chips, ...models].map(({id, name}) => [id, name]));
  return text.replace(/\b[a-z0-9]+\/[a-z0-9][a-z0-9.-]*[a-z0-9]/g, (id) => entries.get(id) ?? id);
}

/** A note without the names that only a program uses: an option by its label, an output by what it means, a chip by its name. */
function spoken({inputs, outputs}, data, note) {
  const quoted = ({meaning}) => `“${brief(meaning)}”`;
  const of = (name) => inputs.find((input) => input.name === inner(name)) ?? outputs.find((output) => output.name === inner(name));
  return named(data, typeset(note)).replace(/--([a-z][a-z-]*)|\b[a-z]+(?:_[a-z]+)+\b|^[a-z]+(?= is |:)/g, (word, option) => {
    const one = of(option ?? word);
    return one ? quoted(one) : word;
  });
}

/** Every output; folded away where there are more than a glance takes in, and as the reader left it. */
function all(spec, list, isSaid) {
  if (!spec.outputs.length) return [];
  if (spec.outputs.length === 1) {
    list.hidden = isSaid; // the headline is all of it
    return [list];
  }
  const count = list.querySelectorAll(":scope > div:not([hidden])").length;
  const box = el("details", {class: "fb-all"}, el("summary", {}, `All ${count} values`), list);
  box.open = unfolded.has(spec.id);
  box.addEventListener("toggle", () => unfolded[box.open ? "add" : "delete"](spec.id));
  return [box];
}

const unfolded = new Set();

/** The few outputs that a reader asks for next; those of one value are told together. */
function beside(spec, state) {
  const meanings = new Map();
  for (const output of spec.outputs.filter(({name}) => spec.beside[name])) {
    if (left(output, state.resolved).length) continue;
    const text = worded(spec, output, state.result[output.name]);
    meanings.set(text, [...(meanings.get(text) ?? []), spec.beside[output.name]]);
  }
  if (!meanings.size) return [];
  const pairs = [...meanings].map(([text, words]) => el("div", {}, el("dt", {}, words.join("; ")), el("dd", {}, text)));
  return [el("dl", {class: "fb-beside"}, ...pairs)];
}

/** The answer in large type, and what it means. */
function headline(spec, state) {
  const output = spec.outputs.find(({name}) => name === spec.answer);
  if (!output || left(output, state.resolved).length) return [];
  const fits = !isMisfit(spec, state);
  const value = state.result[output.name];
  const ends = spec.ends && !resolvedOpen(spec.ends[0], state) && value >= state.values[spec.ends[0]];
  const text = worded(spec, output, value);
  return [
    el("p", {class: fits ? "fb-large" : "fb-large fb-wrong"}, text),
    el("p", {class: "fb-says"}, ends ? sentence(spec, state, spec.ends[1]) : spec.says ? sentence(spec, state, spec.says) : output.meaning),
  ];
}

function resolvedOpen(name, {resolved, values}) {
  return resolved[name].open || !Number.isFinite(values[name]);
}

/** The sentence of a calculator with its numbers; a name that is open here leaves the meaning of the answer. */
function sentence(spec, {values, result, resolved}, words) {
  const value = (name) => {
    if (name === "devices") return degrees(spec, values);
    const output = spec.outputs.find((one) => one.name === name);
    if (output) return left(output, resolved).length ? undefined : worded(spec, output, result[name]);
    const input = spec.inputs.find((one) => one.name === name);
    if (input?.choices.length) return values[name];
    return input && Number.isFinite(values[name]) ? worded(spec, {...input, absent: ""}, values[name]) : undefined;
  };
  const known = Object.fromEntries([...words.matchAll(/{(\w+)}/g)].map(([, name]) => [name, value(name)]));
  const open = Object.values(known).includes(undefined);
  return open ? spec.outputs.find(({name}) => name === spec.answer).meaning : filled(words, known);
}

/** What fills a memory, as one bar against its capacity. */
function bar(spec, {values, result, resolved}) {
  const names = Object.keys(spec.bar ?? {});
  const capacity = resolved.memory?.open ? undefined : values.memory;
  const parts = names.filter((name) => result[name] > 0);
  if (!parts.length || !Number.isFinite(result.total)) return [];
  const most = Math.max(result.total, Number.isFinite(capacity) ? capacity : 0);
  const share = (value) => `${(100 * value / most).toFixed(2)}%`;
  const piece = (name, n) => el("span", {class: `fb-part fb-part-${n % 12}`, style: `width:${share(result[name])}`, title: `${spec.bar[name]}: ${written(result[name], "byte")}`});
  const key = (name, n) => el("li", {}, el("i", {class: `fb-part-${n % 12}`}), `${spec.bar[name]} ${written(result[name], "byte")}`);
  const line = Number.isFinite(capacity)
    ? [el("span", {class: "fb-capacity", style: `left:${share(capacity)}`}, el("span", {}, `${written(capacity, "byte")} of memory`))] : [];
  return [el("div", {class: "fb-filled", "aria-hidden": "true"}, ...parts.map(piece), ...line), el("ul", {class: "fb-key"}, ...parts.map(key))];
}

function isMisfit(spec, {resolved, result}) {
  const free = spec.outputs.find(({name}) => name === "free");
  return Boolean(free) && !left(free, resolved).length && result.free < 0;
}

/** Whether an answer fits into memory, in the words of the command, and what would fit where it does not. */
function misfit(spec, state) {
  const {result} = state;
  if (!isMisfit(spec, state)) return spec.bar && result.free >= 0 && Number.isFinite(result.free) ? [el("p", {class: "fb-open fb-fits"}, `Fits: ${written(result.free, "byte")} left`)] : [];
  const most = state.largest?.();
  const largest = most > 0 ? `; largest batch ${most.toLocaleString("en")}` : "";
  const fewest = Number.isFinite(result.fewest_chips) ? `; smallest number of chips ${result.fewest_chips.toLocaleString("en")}` : "";
  const told = el("p", {class: "fb-open fb-wrong"}, `Does not fit: ${written(-result.free, "byte")} over${largest}${fewest}`);
  const found = rescues(spec, state);
  if (!found.length) return [told];
  return [told, el("p", {class: "fb-would"}, "What would fit:"), el("ul", {class: "fb-rescues"}, ...found.map((text) => el("li", {}, text)))];
}

/** Changes after which the state fits, with what they leave of the memory taken; one that adds nothing to an earlier one is left out. */
function rescues(spec, {values, outputs}) {
  const found = new Map();
  for (const [change, text] of spec.rescues ?? []) {
    if (found.size && "dp" in change) break; // other chips, where nothing else would fit
    const differs = Object.entries(change).some(([name, value]) => values[name] !== value);
    const result = differs && outputs ? outputs({...values, ...change}) : null;
    const taken = result && result.free >= 0 ? written(result[spec.answer], "byte") : "";
    if (taken && !found.has(taken)) found.set(taken, text);
  }
  return [...found].map(([taken, text]) => `${text}: ${taken}`);
}

/** A row for each output; one that says the same number as an earlier one of its unit is told with it. */
function rows(spec, state) {
  const first = new Map();
  const made = spec.outputs.map((output) => [output, pair(spec, output, state)]);
  for (const [output, row] of made) {
    const value = state.result[output.name];
    const key = left(output, state.resolved).length || !Number.isFinite(value) || value === 0 ? null : `${output.unit} ${said(output, value)}`;
    if (key === null) continue;
    if (first.has(key)) {
      first.get(key).querySelector("dt").append(`; also: ${output.meaning}`);
      row.hidden = true;
    } else first.set(key, row);
  }
  return made.map(([, row]) => row);
}

function pair(spec, output, {resolved, result}) {
  const value = result[output.name];
  const open = left(output, resolved);
  const text = open.length ? waiting(spec, open) : said(output, value);
  const shown = {class: open.length ? "fb-open" : null, "data-output": output.name, "data-value": open.length ? "" : [value].flat().join("; ")};
  const [size, each] = output.unit.split("/");
  if (size === "byte" && each !== "s" && value >= 1024 && !open.length) {
    shown.title = `= ${binaryBytes(value)}${each ? `/${each}` : ""}`;
  }
  return el("div", {}, el("dt", {}, output.meaning), el("dd", shown, text));
}

/** A value in the sentences of a form: shares in percent, of a table its first row, all else as everywhere. */
export function worded(spec, output, column) {
  const value = output.table ? column[0] : column;
  if (spec.percent.includes(output.name) && Number.isFinite(value)) return `${written(100 * value, "1")} %`;
  return said(output, value);
}

/** What an open output waits for. */
export function waiting(spec, names) {
  return `fill in ${names.map((name) => label(spec, name)).join(" and ")}`;
}

/** A value of an output as people read it. */
export function said(output, value) {
  if (value === Infinity && output.absent) return output.absent;
  if (Array.isArray(value)) return value.map((one) => said(output, one)).join("; ") || "none";
  return typeof value === "string" ? value : written(value, output.unit);
}
