// What must be known with an answer, in the words of the command line: the words come from Python (data.json).

import {filled} from "./dom.js";
import {formatQuantity} from "./quantity.js";

/** The notes of an answer, in the order in which the command line gives them. */
export function notes(spec, data, state) {
  const {resolved, result} = state;
  const found = spec.inputs.flatMap(({name}) => resolved[name].notes ?? []);
  const lacking = []; // what open outputs leave out of the others
  if (state.sparse && resolved.peak?.given) found.push(...data.said.typed_peak);
  for (const output of spec.outputs) {
    const value = result[output.name];
    if (left(output, resolved).length) {
      if (output.lacking) lacking.push(filled(output.lacking, quantities(spec, result)));
      continue;
    }
    if (value === Infinity) found.push(`${output.name}: ${output.absent || "unlimited"}`);
    if (["max_chips", "max_tp_degree", "devices"].includes(output.name)) found.push(...ofChips(output.name, value, data, state));
  }
  found.push(...lacking, ...wholeNodes(data, state), ...byRule(spec, data, state), ...leftOut(spec, state));
  return [...new Set(found)];
}

/** The outputs that are numbers, as people read them. */
function quantities({outputs}, result) {
  const numbers = outputs.filter(({choices, several}) => !choices.length && !several);
  return Object.fromEntries(numbers.map(({name, unit}) => [name, formatQuantity(result[name], unit)]));
}

/** The inputs that an output waits for. */
export function left(output, resolved) {
  return output.needs.filter((name) => resolved[name].origin === "default");
}

/** That more chips are billed than train, because nodes are whole. */
function wholeNodes(data, {values, result}) {
  if (!(result.billed_chips > values.chips)) return [];
  const counts = {chips: values.chips, size: values.chips_per_node, billed: result.billed_chips};
  const written = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, formatQuantity(count, "chip")]));
  return data.said.whole_nodes.map((text) => filled(text, written));
}

/** The tensors for which the format that was chosen does not hold, by its rule. */
function byRule({inputs}, data, {dtype, resolved}) {
  const rule = data.formats[dtype] ?? {}, kept = {};
  for (const [tensor, words] of Object.entries(data.tensors)) {
    const fills = inputs.some((input) => input.dtype === tensor && !resolved[input.name].given && resolved[input.name].origin !== "default");
    if (fills && rule[tensor] !== undefined && rule[tensor] !== dtype) (kept[rule[tensor]] ??= new Set()).add(words);
  }
  return Object.entries(kept).flatMap(([format, tensors]) => {
    const parts = {dtype, tensors: [...tensors].join(", "), kept: format};
    return data.said.by_rule.map((text) => filled(text, parts));
  });
}

/** What the formula leaves out and is worth more than a tenth, of outputs that are not open. */
function leftOut({omissions, outputs}, {omitted, resolved}) {
  const open = new Set(outputs.filter((output) => left(output, resolved).length).map(({name}) => name));
  return Object.entries(omitted).filter(([name]) => !open.has(omissions[name])).map(([, note]) => note);
}

function ofChips(name, count, data, {chip, resolved}) {
  if (count === 0 && name === "max_chips") return data.said.small;
  const domain = chip?.scaleup_domain;
  if (name === "devices") return ofMesh(count, data, domain, {chip, resolved});
  const ends = domain && resolved.chips_per_node?.value === domain.value && resolved.scaleout_bandwidth?.open;
  return ends && count >= domain.value ? domain.notes ?? [] : [];
}

/** That a mesh is larger than the network of its chip, where the links are of the chip. */
function ofMesh(count, data, domain, {chip, resolved}) {
  if (!domain || resolved.link_bandwidth.given || count <= domain.value) return [];
  return data.said.mesh_ends.map((text) => filled(text, {chip: chip.id, size: formatQuantity(domain.value, "chip")}));
}
