// The answer of a calculator: each output with its meaning, and what must be known beside it.

import {el} from "./dom.js";
import {label} from "./fields.js";
import {left, notes} from "./notes.js";
import {binaryBytes, formatQuantity} from "./quantity.js";

const DEGREES = ["dp", "tp", "pp", "cp"]; // their product is the number of devices

/** The answer as elements; `state` has resolved inputs, the result, the chip and whether a sparse peak was asked for. */
export function answer(spec, data, state) {
  const list = el("dl", {class: "fb-results"}, ...rows(spec, state));
  const told = notes(spec, data, state);
  const all = [...misfit(spec, state), list];
  if (!told.length) return all;
  return [...all, el("ul", {class: "fb-notes", "aria-label": "Notes"}, ...told.map((note) => el("li", {}, note)))];
}

/** What stays in view while one types: the answer in large type, and what fills a memory. */
export function top(spec, state) {
  return [...headline(spec, state), ...bar(spec, state)];
}

/** The answer in large type, and what it means. */
function headline(spec, state) {
  const output = spec.outputs.find(({name}) => name === spec.answer);
  if (!output || left(output, state.resolved).length) return [];
  const fits = !isMisfit(spec, state);
  const text = said(output, state.result[output.name]);
  return [
    el("p", {class: fits ? "fb-large" : "fb-large fb-wrong"}, text),
    el("p", {class: "fb-says"}, spec.says ? filled(spec, state) : output.meaning),
  ];
}

/** The sentence of a calculator with its numbers; a name that is open here leaves the meaning of the answer. */
function filled(spec, {values, result, resolved}) {
  const value = (name) => {
    if (name === "devices") return String(devices(spec, values));
    const output = spec.outputs.find((one) => one.name === name);
    if (output) return left(output, resolved).length ? undefined : said(output, result[name]);
    const input = spec.inputs.find((one) => one.name === name);
    if (input?.choices.length) return values[name];
    return input && Number.isFinite(values[name]) ? formatQuantity(values[name], input.unit) : undefined;
  };
  const open = [...spec.says.matchAll(/{(\w+)}/g)].some(([, name]) => value(name) === undefined);
  return open ? spec.outputs.find(({name}) => name === spec.answer).meaning : spec.says.replace(/{(\w+)}/g, (_, name) => value(name));
}

function devices(spec, values) {
  return DEGREES.filter((name) => spec.inputs.some((input) => input.name === name)).reduce((all, name) => all * values[name], 1);
}

/** What fills a memory, as one bar against its capacity. */
function bar(spec, {values, result, resolved}) {
  const names = Object.keys(spec.bar ?? {});
  const capacity = resolved.memory?.open ? undefined : values.memory;
  const parts = names.filter((name) => result[name] > 0);
  if (!parts.length || !Number.isFinite(result.total)) return [];
  const most = Math.max(result.total, Number.isFinite(capacity) ? capacity : 0);
  const share = (value) => `${(100 * value / most).toFixed(2)}%`;
  const piece = (name, n) => el("span", {class: `fb-part fb-part-${n % 6}`, style: `width:${share(result[name])}`, title: `${spec.bar[name]}: ${formatQuantity(result[name], "byte")}`});
  const key = (name, n) => el("li", {}, el("i", {class: `fb-part-${n % 6}`}), `${spec.bar[name]} ${formatQuantity(result[name], "byte")}`);
  const line = Number.isFinite(capacity)
    ? [el("span", {class: "fb-capacity", style: `left:${share(capacity)}`}, el("span", {}, `${formatQuantity(capacity, "byte")} of memory`))] : [];
  return [el("div", {class: "fb-filled", "aria-hidden": "true"}, ...parts.map(piece), ...line), el("ul", {class: "fb-key"}, ...parts.map(key))];
}

function isMisfit(spec, {resolved, result}) {
  const free = spec.outputs.find(({name}) => name === "free");
  return Boolean(free) && !left(free, resolved).length && result.free < 0;
}

/** What stands before an answer that does not fit into memory, in the words of the command, and what would fit. */
function misfit(spec, state) {
  if (!isMisfit(spec, state)) return [];
  const {result} = state;
  const fewest = Number.isFinite(result.fewest_chips) ? `; smallest number of chips ${result.fewest_chips.toLocaleString("en")}` : "";
  const told = el("p", {class: "fb-open fb-wrong"}, `does not fit: ${formatQuantity(-result.free, "byte")} over${fewest}`);
  const found = rescues(spec, state);
  if (!found.length) return [told];
  return [told, el("p", {class: "fb-would"}, "What would fit:"), el("ul", {class: "fb-rescues"}, ...found.map((text) => el("li", {}, text)))];
}

/** Changes after which the state fits, with what they leave of the memory taken. */
function rescues(spec, {values, outputs}) {
  return (spec.rescues ?? []).flatMap(([change, text]) => {
    const differs = Object.entries(change).some(([name, value]) => values[name] !== value);
    const result = differs && outputs ? outputs({...values, ...change}) : null;
    return result && result.free >= 0 ? [`${text}: ${formatQuantity(result[spec.answer], "byte")}`] : [];
  });
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
  const shown = {class: open.length ? "fb-open" : null, "data-output": output.name, "data-value": open.length ? "" : String(value)};
  const [size, each] = output.unit.split("/");
  if (size === "byte" && each !== "s" && value >= 1024 && !open.length) {
    shown.title = `= ${binaryBytes(value)}${each ? `/${each}` : ""}`;
  }
  return el("div", {}, el("dt", {}, output.meaning), el("dd", shown, text));
}

/** What an open output waits for. */
export function waiting(spec, names) {
  return `fill in ${names.map((name) => label(spec, name)).join(" and ")}`;
}

/** A value of an output as people read it. */
export function said(output, value) {
  if (value === Infinity && output.absent) return output.absent;
  return output.choices.length ? value : formatQuantity(value, output.unit);
}
