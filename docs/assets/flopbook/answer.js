// The answer of a calculator: each output with its meaning, and what must be known beside it.

import {el} from "./dom.js";
import {label} from "./fields.js";
import {left, notes} from "./notes.js";
import {binaryBytes, formatQuantity} from "./quantity.js";

/** The answer as elements; `state` has resolved inputs, the result, the chip and whether a sparse peak was asked for. */
export function answer(spec, data, state) {
  const list = el("dl", {class: "fb-results"}, ...spec.outputs.map((output) => pair(spec, output, state)));
  const told = notes(spec, data, state);
  const before = misfit(spec, state);
  if (!told.length) return [...before, list];
  return [...before, list, el("ul", {class: "fb-notes", "aria-label": "Notes"}, ...told.map((note) => el("li", {}, note)))];
}

/** What stands before an answer that does not fit into memory, in the words of the command. */
function misfit(spec, {resolved, result}) {
  const free = spec.outputs.find(({name}) => name === "free");
  if (!free || left(free, resolved).length || !(result.free < 0)) return [];
  const fewest = Number.isFinite(result.fewest_chips) ? `; smallest number of chips ${result.fewest_chips.toLocaleString("en")}` : "";
  return [el("p", {class: "fb-open"}, `does not fit: ${formatQuantity(-result.free, "byte")} over${fewest}`)];
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
  return el("div", {}, el("dt", {}, el("code", {}, output.name), ` ${output.meaning}`), el("dd", shown, text));
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
