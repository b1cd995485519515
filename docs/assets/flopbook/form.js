// The interactive form of a calculator: inputs from a chip or model picker or typed, the answer as you type, the state in the
// address, and the command line that gives the same. It computes with the functions made from Python (formulas.js).

import {copyText} from "./copy.js";
import * as formulas from "./formulas.js";
import {asked, example, named, neutral, outer, pairs} from "./link.js";
import {left, notes} from "./notes.js";
import {binaryBytes, formatQuantity, isBare, oneWay, parseQuantity} from "./quantity.js";

const UNITS = {"FLOP/s": "989TFLOP/s", "byte/s": "3.35TB/s"}; // rates in which a bare small number is a slip
const LINKS = ["link_bandwidth", "scaleout_bandwidth"]; // one way, unless the text says both
const PRICES = {"USD/s": "2USD/h", "kg/J": "400g/kWh"}; // and those that nobody gives in SI units

let serial = 0;

export function makeForm(host, data) {
  const spec = JSON.parse(host.dataset.spec);
  const form = new Form(host, spec, data);
  form.build();
  form.restore();
  form.update();
}

class Form {
  constructor(host, spec, data) {
    Object.assign(this, {host, spec, data, fields: new Map(), prefix: `fb-form-${serial++}`});
    this.alone = document.querySelectorAll(".fb-calculator").length === 1;
  }

  build() {
    this.form = element("form", {class: "fb-form", novalidate: ""});
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => {
      this.unknown.textContent = "";
      this.update(true);
    });
    this.unknown = element("p", {class: "fb-unknown fb-wrong", role: "status"});
    const pickers = element("div", {class: "fb-fields fb-pickers"});
    for (const name of this.spec.takes) pickers.append(this.picker(name));
    const typed = element("div", {class: "fb-fields"});
    for (const input of this.spec.inputs) typed.append(this.input(input));
    this.answer = element("div", {class: "fb-answer", role: "status", "aria-live": "polite"});
    const inputs = element("fieldset", {class: "fb-typed"});
    inputs.append(element("legend", {}, "Values; what you type here goes before the choice above"), typed);
    // The answer stands right below the pickers: on a phone a choice and what it gives are seen together.
    this.form.append(this.unknown, ...(this.spec.takes.length ? [pickers, this.answer, inputs] : [typed, this.answer]));
    this.command = element("code", {class: "fb-command", id: `${this.prefix}-command`});
    const buttons = element("p", {class: "fb-buttons"});
    buttons.append(button("Copy command", () => this.copy(this.command.textContent)));
    buttons.append(button("Copy link", () => this.copy(this.link().href)));
    buttons.append(button("Start again", () => this.reset()));
    this.said = element("span", {class: "fb-said", role: "status"});
    buttons.append(this.said);
    const line = element("p", {class: "fb-line"});
    line.append("In a terminal: ", this.command);
    this.form.append(line, buttons);
    this.host.replaceChildren(this.form);
  }

  picker(name) {
    const id = `${this.prefix}-${name}`;
    const select = element("select", {id, name});
    const options = {
      chip: () => [["", "none: type the values"], ...this.data.chips.map((c) => [c.id, c.name])],
      model: () => [["", "none: type the values"], ...this.data.models.map((m) => [m.id, m.name])],
      dtype: () => Object.keys(this.data.bytes).map((d) => [d, d]),
      sparsity: () => [["dense", "dense"], ["2:4", "2:4 sparse"]],
    }[name]();
    for (const [value, text] of options) select.append(element("option", {value}, text));
    const box = this.field(name, {chip: "Chip", model: "Model", dtype: "Number format", sparsity: "Sparsity"}[name], select);
    box.classList.toggle("fb-wide", name === "chip" || name === "model");
    return box;
  }

  input(input) {
    const id = `${this.prefix}-${input.name}`;
    let control;
    if (input.choices.length) {
      control = element("select", {id, name: input.name});
      if (lent(input)) control.append(element("option", {value: ""}, `as the ${input.model ? "model" : "chip"}, else ${input.default}`));
      for (const choice of input.choices) control.append(element("option", {value: choice}, choice));
    } else {
      control = element("input", {id, name: input.name, type: "text", autocomplete: "off", spellcheck: "false"});
    }
    const unit = input.unit === "1" ? "" : ` (${input.unit})`;
    return this.field(input.name, sentence(input.meaning) + unit, control);
  }

  field(name, label, control) {
    const hint = element("span", {class: "fb-hint", id: `${control.id}-hint`});
    control.setAttribute("aria-describedby", hint.id);
    const box = element("div", {class: "fb-field"});
    box.append(element("label", {for: control.id}, label), control, hint);
    this.fields.set(name, {control, hint});
    return box;
  }

  /** Values from the address, else the first example. */
  restore() {
    this.put(asked(this.alone ? location.search : "", this.spec, this.fields));
  }

  /** Put a state into the fields; a choice that knows no such value is left neutral, and that is told. */
  put(state) {
    const unknown = [];
    for (const [name, {control}] of this.fields) {
      const text = (state.get(name) ?? "").trim();
      const value = text && control.tagName === "SELECT" ? named(text, control, this.entries(name)) : text;
      if (value === undefined) unknown.push(`this link names an unknown ${outer(name)} '${shorten(text)}'`);
      control.value = value || neutral(this.spec, name);
    }
    this.unknown.textContent = unknown.join("; ");
  }

  entries(name) {
    return {chip: this.data.chips, model: this.data.models}[name] ?? [];
  }

  picked(name) {
    return this.entries(name).find((entry) => entry.id === this.text(name));
  }

  text(name) {
    return this.fields.get(name)?.control.value.trim() ?? "";
  }

  /** The value of one input with its origin, or an error: what was typed, the chip or model, the default. */
  resolve(input) {
    const typed = this.text(input.name);
    const model = this.picked("model");
    if (input.choices.length && (typed || !lent(input))) return {value: typed, given: typed !== this.first(input)};
    const chip = this.picked("chip");
    if (input.choices.length) {
      const own = model?.[input.model] ?? chip?.[input.chip] ?? {value: input.default};
      return {...own, origin: (model ?? chip)?.id ?? "default"};
    }
    if (typed) return this.typed(input, typed);
    if (input.chip && chip && !(BEYOND.includes(input.chip) && !chip[input.chip])) return this.fromChip(input, chip);
    if (input.model && model?.[input.model]) return {...model[input.model], origin: model.id};
    if (input.dtype && this.fields.has("dtype")) {
      return {value: this.data.bytes[this.text("dtype")], origin: this.text("dtype")};
    }
    if (input.optional) return {value: input.default ?? Infinity, origin: "default", open: input.default === null};
    return {error: input.chip || input.model ? "choose above, or type a value" : "type a value"};
  }

  first(input) {
    return lent(input) ? "" : input.default ?? input.choices[0];
  }

  typed(input, typed) {
    const [text, ways] = LINKS.includes(input.chip) ? oneWay(typed) : [typed, 1];
    let value;
    try {
      value = parseQuantity(text, input.unit) * ways;
    } catch (error) {
      return {error: error.message};
    }
    if (UNITS[input.unit] && value > 0 && value < 1e6 && isBare(text)) {
      return {error: `write a unit, such as ${UNITS[input.unit]}`};
    }
    if (PRICES[input.unit] && value > 0 && isBare(text)) return {error: `write a unit, such as ${PRICES[input.unit]}`};
    if (input.none && value === 0) return {value, given: true};
    if (value < input.least || (input.least === 0 && value <= 0)) {
      return {error: input.least ? `at least ${input.least}` : "more than 0"};
    }
    if (value > (input.most ?? 1e40) || value < 1e-40) return {error: "not a plausible size"};
    if (input.whole && !Number.isInteger(value)) return {error: "a whole number"};
    return {value, given: true};
  }

  fromChip(input, chip) {
    if (input.chip !== "peak") {
      if (chip[input.chip]) return {...chip[input.chip], origin: chip.id};
      if (input.optional && input.default === null) return {value: Infinity, origin: "default", open: true};
      return {error: `not known for ${chip.name}; type a value`};
    }
    const dtype = this.text("dtype");
    const sparsity = this.text("sparsity");
    const peaks = chip.peaks[dtype] ?? {};
    const found = peaks[sparsity] ?? (sparsity === "dense" ? peaks.unstated : undefined);
    if (found) return {...found, origin: chip.id};
    return {error: `${chip.name} has no ${sparsity} ${dtype} peak`};
  }

  update(changed = false) {
    const values = {};
    const resolved = {};
    const failed = [];
    for (const input of this.spec.inputs) {
      const found = this.resolve(input);
      resolved[input.name] = found;
      this.hint(input, found);
      if (found.error) failed.push(`${sentence(input.meaning)}: ${found.error}.`);
      values[input.name] = found.value;
    }
    const problem = failed.length ? failed.join(" ") : this.rules(values, resolved);
    this.show(problem, values, resolved);
    this.command.textContent = this.commandLine();
    if (changed && this.alone) history.replaceState(null, "", this.link());
  }

  /** Rules between inputs, as the command line checks them. */
  rules(values, resolved) {
    const chip = this.picked("chip");
    if (this.spec.id === "collective") return ofNetwork(values);
    if (this.spec.id === "ep-limit" && values.axes > 3) return "Experts are exchanged on one to three axes.";
    if (this.spec.id === "cp-limit" && values.kv_heads > values.heads && values.kv_heads !== Infinity) {
      return "Each key and value head serves at least one head.";
    }
    if (values.tensor_axes > values.axes || (values.tensor_axes === values.axes && values.axes > 1)) {
      return "Tensor parallelism leaves no axis for FSDP.";
    }
    if (chip?.axes && resolved.axes?.given && values.axes > chip.axes.value) {
      return `${chip.name} has ${chip.axes.value} axes.`;
    }
    if (values.schedule !== undefined) {
      if (values.schedule !== "interleaved" && values.virtual !== 1) return "Chunks belong to the interleaved schedule.";
      const open = values.microbatches === Infinity;
      if (values.schedule === "gpipe" && open) return "GPipe keeps every micro-batch until the end; type how many.";
      if (values.schedule === "interleaved" && !open && values.microbatches % (values.stages ?? values.pp) !== 0) {
        return "The interleaved schedule needs a multiple of the stages as micro-batches.";
      }
      const stages = values.stages ?? values.pp;
      const problem = ofSchedule({...values, stages, microbatches: open ? 4 * stages : values.microbatches});
      if (problem) return problem;
    }
    if (values.op !== undefined) return ofOperation(values);
    if (values.experts < values.experts_per_token) return "A token cannot visit more experts than there are.";
    if (this.spec.id === "memory") return ofShape(values) || ofParallelism(values);
    if (values.compute_params > values.params) return "A token cannot meet more weights than there are.";
    if (["kv-cache", "prefill", "decode", "serving"].includes(this.spec.id)) return ofHeads(values);
    return this.spec.id === "params" ? ofShape(values) : "";
  }

  hint(input, found) {
    const {control, hint} = this.fields.get(input.name);
    control.removeAttribute("aria-invalid");
    if (found.error) {
      hint.textContent = found.error;
      if (this.text(input.name)) control.setAttribute("aria-invalid", "true");
    } else if (found.given || (input.choices.length && !lent(input))) {
      hint.textContent = found.given && !input.choices.length ? `= ${formatQuantity(found.value, input.unit)}` : "";
    } else if (found.open || (found.value === 0 && input.unit === "s")) {  // no time is zero: the meaning says what holds
      hint.textContent = "optional";
    } else {
      const source = found.source ? `, source ${found.source}` : "";
      const shown = input.choices.length ? found.value : formatQuantity(found.value, input.unit);
      hint.textContent = `${shown} (${found.origin}${source})`;
    }
    hint.classList.toggle("fb-wrong", Boolean(found.error));
  }

  show(problem, values, resolved) {
    if (problem) {
      this.answer.replaceChildren(element("p", {class: "fb-open"}, problem));
      return;
    }
    const result = formulas[this.spec.id.replaceAll("-", "_")](values);
    const list = element("dl", {class: "fb-results"});
    for (const output of this.spec.outputs) list.append(this.result(output, result[output.name], resolved));
    const state = {resolved, result, chip: this.picked("chip"), sparse: this.text("sparsity") === "2:4"};
    const told = notes(this.spec, this.data, state).map((note) => element("li", {}, note));
    this.answer.replaceChildren(list);
    if (!told.length) return;
    const under = element("ul", {class: "fb-notes", "aria-label": "Notes"});
    under.append(...told);
    this.answer.append(under);
  }

  result(output, value, resolved) {
    const open = left(output, resolved);
    const term = element("dt", {});
    term.append(element("code", {}, output.name), ` ${output.meaning}`);
    const text = open.length
      ? `fill in ${open.map((name) => this.label(name)).join(" and ")}`
      : value === Infinity && output.absent ? output.absent
        : output.choices.length ? value : formatQuantity(value, output.unit);
    const shown = element("dd", {"data-output": output.name, "data-value": open.length ? "" : String(value)}, text);
    if (output.unit === "byte" && value >= 1024 && !open.length) shown.title = `= ${binaryBytes(value)}`;
    shown.classList.toggle("fb-open", open.length > 0);
    const pair = element("div", {});
    pair.append(term, shown);
    return pair;
  }

  /** The label of a field as people say it: without what explains it. */
  label(name) {
    return sentence(this.spec.inputs.find((i) => i.name === name).meaning.split(/[,;]/)[0]);
  }

  commandLine() {
    const words = pairs(this.spec, this.fields).map(([name, value]) => `--${name} ${/^[\w.:/+-]+$/.test(value) ? value : `'${value.replaceAll("'", "")}'`}`);
    return ["flopbook", this.spec.id, ...words].join(" ");
  }

  link() {
    const url = new URL(location.href);
    url.search = new URLSearchParams(pairs(this.spec, this.fields, true)).toString();
    url.hash = "";
    return url;
  }

  reset() {
    this.put(example(this.spec));
    this.update(true);
  }

  async copy(text) {
    this.said.textContent = (await copyText(text)) ? "copied" : "select and copy it by hand: the browser does not allow it here";
    setTimeout(() => { this.said.textContent = ""; }, 4000);
  }
}

/** What the closed forms of the later schedules ask, as the command line does; a time left open is that of forward. */
function ofSchedule({schedule, stages, microbatches, forward, backward_input, backward_weight}) {
  const inputs = backward_input || forward;
  const weights = backward_weight || forward;
  const folded = schedule === "dualpipe" || schedule === "dualpipe-v";
  if (schedule === "dualpipe" && stages % 2 !== 0) return "DualPipe needs an even number of stages.";
  if (schedule === "dualpipe" && microbatches % 2 !== 0) return "DualPipe needs an even number of micro-batches.";
  if (folded && microbatches < 2 * stages) return "This schedule needs at least twice as many micro-batches as stages.";
  if (schedule === "zb-v" && forward !== undefined && microbatches < 2 * stages - 1) {
    return "The closed form of ZB-V needs at least twice as many micro-batches as stages, less one.";
  }
  if (schedule.startsWith("zb") && (weights > forward || weights > inputs)) {
    return "The closed form needs a backward pass for the weights that is no longer than the other two.";
  }
  if (schedule === "zb-v" && forward > inputs) {
    return "The closed form of ZB-V needs a forward pass no longer than the backward pass for the inputs.";
  }
  if (folded && (forward !== inputs || weights > forward)) {
    return "The closed form needs equal times forward and backward for the inputs, and no longer ones for the weights.";
  }
  return "";
}

/** What is wrong with a shape, as the command line says it. */
// What a chip may know of the network beyond its node; without it the value stays open.
const BEYOND = ["chips_per_node", "scaleout_bandwidth"];

/** True when a chip or a model may supply an input. */
function lent(input) {
  return Boolean(input.model || input.chip);
}

function ofNetwork(v) {
  if (v.topology === "two-level") {
    if (v.scaleout_bandwidth === Infinity) return "Two levels need the bandwidth beyond a node.";
    return v.chips % v.chips_per_node === 0 ? "" : "Two levels need a number of chips that is a multiple of those in a node.";
  }
  if (v.topology !== "torus" && (v.side_x !== Infinity || v.side_y !== Infinity)) return "Sides belong to a torus.";
  if (v.topology !== "switch" && v.wrap === "no" && v.links_per_axis === 1) return "An axis of one link has to be closed.";
  if (v.topology !== "torus") return "";
  if (v.axes > 3) return "A torus has one to three axes.";
  if (v.axes < 2 && v.side_x !== Infinity) return "Sides belong to a torus of two or three axes.";
  if (v.axes < 3 && v.side_y !== Infinity) return "With two axes the second side follows from the first.";
  const alike = (length) => Math.floor(length + 0.5);
  const first = v.axes === 1 ? v.chips : v.side_x === Infinity ? alike(v.chips ** (1 / v.axes)) : v.side_x;
  const second = v.axes < 3 ? v.chips / first : v.side_y === Infinity ? alike(Math.sqrt(v.chips / first)) : v.side_y;
  const whole = Number.isInteger(second) && Number.isInteger(v.chips / (first * second));
  return whole ? "" : "These chips do not fill a torus of whole sides.";
}

function ofShape(v) {
  if (v.kv_heads > v.heads && v.kv_heads !== Infinity) return "Each key and value head serves at least one head.";
  if (v.dense_layers > v.layers) return "There are more dense layers than layers.";
  if (v.positions === "learned" && v.context === Infinity) return "Learned positions need the number of places.";
  const onlyExperts = v.experts > 1 && v.dense_layers === 0 && v.expert_d_ff < Infinity;
  if (v.d_ff === Infinity && !onlyExperts) return "The width of a dense feed-forward block is missing.";
  if (v.kv_lora_rank > 0 && !(v.qk_nope_head_dim > 0 && v.v_head_dim > 0)) return "Latent attention needs its head widths.";
  const open = v.head_dim === Infinity && v.kv_lora_rank === 0 && v.positions !== undefined;
  return open && v.d_model % v.heads !== 0 ? "The width is no multiple of the heads; type the width of a head." : "";
}

/** What is wrong with the heads of an attention that is run, as the command line says it. */
function ofHeads(v) {
  if (v.kv_heads > v.heads && v.kv_heads !== Infinity) return "Each key and value head serves at least one head.";
  if (v.head_dim === Infinity && v.d_model === Infinity && !v.kv_lora_rank) return "The width of a head is missing.";
  if (v.window_layers > v.layers && v.window_layers !== Infinity) return "There are more windowed layers than layers.";
  if (v.vocab > 0 && v.d_model < Infinity && 2 * v.vocab * v.d_model >= v.compute_params) return "Two embeddings are more than all weights.";
  return v.batch < v.ep ? "Each group needs a sequence." : "";
}

/** What is wrong with an operation, as the command line says it. */
function ofOperation(v) {
  const attention = v.op === "prefill" || v.op === "decode";
  if (v.op === "dot" && !(v.m === 1 && v.n === 1)) return "A dot product has an inner length only.";
  if ((v.op === "gemv" || v.op === "decode") && v.m !== 1) return "A matrix times a vector, and attention for one token, has one row.";
  if (v.op === "prefill" && v.n < v.m) return "Attention over a prompt needs as many keys as queries: each token sees itself.";
  if (!attention && !(v.heads === 1 && v.kv_heads === Infinity)) return "Only attention has heads.";
  return v.kv_heads > v.heads && v.kv_heads !== Infinity ? "Each key and value head serves at least one head." : "";
}

/** What is wrong with how a model is divided, as the command line says it. */
function ofParallelism(v) {
  if (v.pp > v.layers) return "There are more stages than layers.";
  if (v.experts % v.ep !== 0) return "The experts are no multiple of the ways of expert parallelism.";
  if ((v.dp * v.cp) % v.ep !== 0) return "Expert parallelism does not divide data times context parallelism.";
  if (v.seq % v.cp !== 0) return "The sequence is no multiple of the ways of context parallelism.";
  const wide = v.expert_d_ff < Infinity ? v.expert_d_ff : v.d_ff < Infinity ? v.d_ff : 0;
  const blocks = v.experts > 1 ? (v.layers - v.dense_layers) * v.experts * (v.ffn === "gated" ? 3 : 2) : 0;
  const counted = v.vocab * v.d_model * (v.tied_embeddings === "yes" ? 1 : 2) + blocks * v.d_model * wide;
  return v.params < counted ? "The parameters are fewer than the embeddings and experts of this shape." : "";
}

function sentence(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function shorten(text) {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

function button(text, action) {
  const made = element("button", {type: "button", class: "fb-button"}, text);
  made.addEventListener("click", action);
  return made;
}

function element(name, attributes, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}
