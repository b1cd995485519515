// The interactive form of a calculator: inputs from a chip or model picker or typed, the answer as you type, a picture of it, the
// state in the address, and the command and the Python call that give the same. It computes with the function made from Python.

import {answer, tables} from "./answer.js";
import {IMPORT, commandLine, pythonCall} from "./calls.js";
import {copyText} from "./copy.js";
import {button, el, say} from "./dom.js";
import {Field, More, arrange, called, sentence, unexplained, within} from "./fields.js";
import {isBare} from "./packing.js";
import {typeset} from "./quantity.js";
import {asked, example, inner, named, neutral, pairs} from "./link.js";
import {Picture} from "./picture.js";
import {lacking, quoted} from "./strangers.js";
import {degrees, resolve, roofsOf} from "./values.js";

let serial = 0;

/** `made` has the functions of the calculator, of its rules and of its omissions, as they were made from Python. */
export function makeForm(host, spec, data, made) {
  const form = new Form(host, spec, data, made);
  form.build();
  form.restore();
  form.update();
}

class Form {
  constructor(host, spec, data, {compute, broken, omitted, largest, steps, drawing}) {
    Object.assign(this, {host, spec, data, compute, rules: broken, omitted, largest, stepsOf: steps, drawing, fields: new Map(), prefix: `fb-form-${serial++}`});
    this.alone = document.querySelectorAll(".fb-calculator").length === 1;
  }

  build() {
    const {spec, prefix} = this;
    this.unknown = el("p", {class: "fb-unknown fb-wrong", role: "status"});
    const chips = dividesChips(spec) ? ["chips"] : [];
    const boxes = new Map([...spec.takes, ...chips].map((name) => [name, this.add(name, Field.picker(prefix, name, this.data))]));
    for (const input of spec.inputs) boxes.set(input.name, this.add(input.name, Field.input(prefix, input)));
    const {questions, groups, parts} = arrange(spec, boxes);
    this.groups = groups;
    this.more = new More(parts);
    this.answer = el("div", {class: "fb-answer", role: "status", "aria-live": "polite"});
    this.steps = el("ol", {class: "fb-steps", "aria-label": "Step by step"});
    this.tables = el("div");
    // A curve needs a number on either axis.
    const isDrawn = spec.inputs.some(({choices, text}) => !choices.length && !text) && spec.outputs.some(({several}) => !several);
    this.picture = isDrawn ? new Picture(spec, prefix, (values, resolved) => this.outputs(values, resolved)) : null;
    const desk = el("div", {class: "fb-desk"}, questions, this.answer, this.more.box);
    this.form = el("form", {
      class: "fb-form", novalidate: true, submit: (event) => event.preventDefault(), input: () => this.changed(),
    }, this.unknown, ...scenarios(spec), desk, this.stepsOf && this.steps, this.drawing?.box, this.tables, this.picture?.box, ...this.calls());
    this.host.replaceChildren(this.form);
    delete this.host.dataset.whole;
    for (const kind of ["focusin", "pointerover"]) this.form.addEventListener(kind, () => this.complete(), {once: true});
  }

  /** The values that the page did not bring; what was chosen meanwhile is computed then. */
  async complete() {
    try {
      await this.data.complete();
    } catch {
      this.unknown.textContent = "The values of other chips and models could not be loaded; try again.";
      return;
    }
    this.host.dataset.whole = "yes";
    if (this.waits) this.update();
  }

  add(name, field) {
    this.fields.set(name, field);
    return field.box;
  }

  /** The lines that give the same elsewhere, each with a button that copies it. */
  calls() {
    this.command = el("code", {class: "fb-command", id: `${this.prefix}-command`});
    this.python = el("code", {class: "fb-python"});
    this.said = el("span", {class: "fb-said", role: "status"});
    return [
      el("p", {class: "fb-line"}, "In a terminal: ", this.command),
      el("p", {class: "fb-line"}, "In Python: ", this.python),
      el("p", {class: "fb-buttons"},
        button("Copy command", () => this.copy(this.command.textContent)),
        button("Copy Python", () => this.copy(`${IMPORT}\n${this.python.textContent}\n`)),
        button("Copy link", () => this.copy(this.link().href)),
        button("Start again", () => this.reset()), this.said),
    ];
  }

  /** Values from the address, else the first example. */
  restore() {
    const search = this.alone ? location.search : "";
    this.put(this.single(asked(search, this.spec, this.fields)));
    this.unknown.textContent = lacking(this.lost, search, (name) => this.fields.has(inner(name)), "form");
  }

  /** Of several chips, which no picker holds, the roofs are typed. */
  single(state) {
    const roofs = this.spec.inputs.find((input) => input.chip === "roofs");
    const names = (state.get("chip") ?? "").split(",");
    if (!roofs || names.length < 2 || state.get(roofs.name)) return state;
    const {control} = this.fields.get("chip");
    const chips = names.map((name) => this.data.chips.find(({id}) => id === named(name, control, this.data.chips)));
    const texts = chips.map((chip) => roofsOf(chip, state.get("dtype"), state.get("sparsity"))?.value);
    return texts.includes(undefined) ? state : new Map([...state, ["chip", ""], [roofs.name, texts.join("; ")]]);
  }

  /** Put a state into the fields; a choice that knows no such value is left neutral, and `lost` has it. */
  put(state) {
    this.lost = [];
    for (const [name, {control}] of this.fields) {
      const text = (state.get(name) ?? "").trim();
      const value = text && control.tagName === "SELECT" ? named(text, control, this.entries(name)) : text;
      if (value === undefined) this.lost.push(`${called(this.spec, name)} ${quoted(text)}`);
      control.value = value || neutral(this.spec, name);
    }
  }

  entries(name) {
    return {chip: this.data.chips, model: this.data.models}[name] ?? [];
  }

  picked(name) {
    const id = this.text(name);
    return id ? this.entries(name).find((entry) => entry.id === id) : undefined;
  }

  text(name) {
    return this.fields.get(name)?.text ?? "";
  }

  changed() {
    say(this.unknown, "");
    this.complete();
    this.update();
    if (this.alone) history.replaceState(null, "", this.link());
  }

  update() {
    this.waits = !this.data.isWhole() && ["chip", "model"].some((name) => this.picked(name) && isBare(this.picked(name)));
    this.host.toggleAttribute("aria-busy", this.waits);
    if (this.waits) return;
    const values = {};
    const resolved = {};
    const failed = new Map();
    for (const input of this.spec.inputs) {
      const found = this.named(resolve(input, this));
      this.fields.get(input.name).say(input, found);
      if (found.error) failed.set(found.error, [...(failed.get(found.error) ?? []), sentence(found.of ?? unexplained(input.meaning))]);
      resolved[input.name] = found;
      values[input.name] = found.value;
    }
    for (const group of this.groups) group.show(resolved);
    this.sayChips(values, resolved);
    this.more.show(this.spec, this.fields, resolved);
    const problem = told(failed) || this.broken(values, resolved);
    this.show(problem, values, resolved);
    say(this.command, commandLine(this.spec, this.fields));
    say(this.python, pythonCall(this.spec, this.fields));
  }

  /** A value of a chip or a model says so by its name, with the way to its page, which has the source. */
  named(found) {
    const [chip, model] = [this.picked("chip"), this.picked("model")];
    if (chip && found.origin === chip.id) return {...found, origin: chip.name, page: `accelerators/${chip.id}/`};
    if (model && found.origin === model.id) return {...found, origin: model.name, page: `models/#${model.id}`};
    return found;
  }

  /** Beside the number of chips stands how it is divided, or why it cannot be; where none is given, what the degrees come to. */
  sayChips(values, resolved) {
    const field = this.fields.get("chips");
    if (resolved.chips?.open && resolved.tp?.given) field.tell(`${degrees(this.spec, values)}, by the degrees under More`, false);
    if (!field || !dividesChips(this.spec)) return;
    const first = resolved[this.spec.divides[0]];
    field.tell(first.error ?? degrees(this.spec, values), Boolean(first.error));
  }

  /** The message of the first rule that the values break; empty where all are kept. */
  broken(values, resolved) {
    const chip = this.picked("chip");
    const own = chip?.axes && resolved.axes?.given ? {chip_axes: chip.axes.value, chip: chip.id} : {};
    return this.rules({...values, ...own});
  }

  /** The outputs of other values, for the picture; null where a rule forbids them. */
  outputs(values, resolved) {
    return this.broken(values, resolved) ? null : this.compute(values);
  }

  show(problem, values, resolved) {
    const result = problem ? null : this.compute(values);
    const omitted = result ? this.omitted({...result, ...values}) : {};
    const outputs = (other) => this.outputs(other, resolved);
    const largest = () => this.largest?.({...values, batch: Infinity}).batch_fits;
    const state = {values, resolved, result, outputs, omitted, largest, chip: this.picked("chip"), sparse: this.text("sparsity") === "2:4", dtype: this.text("dtype")};
    this.answer.replaceChildren(...(problem ? [el("p", {class: "fb-open"}, problem)] : answer(this.spec, this.data, state)));
    const steps = result && this.stepsOf ? this.stepsOf(values) : [];
    this.tables.replaceChildren(...(result ? tables(this.spec, this.data, state) : []));
    this.steps.replaceChildren(...steps.map((step) => el("li", {}, typeset(step))));
    this.drawing?.show(result && values);
    this.picture?.show(state);
  }

  link() {
    const url = new URL(location.href);
    url.search = new URLSearchParams(pairs(this.spec, this.fields, true)).toString();
    url.hash = "";
    return url;
  }

  reset() {
    this.put(example(this.spec));
    this.changed();
  }

  async copy(text) {
    this.said.textContent = (await copyText(text)) ? "copied" : "the browser does not allow copying here; select the text and copy it by hand";
    setTimeout(() => { this.said.textContent = ""; }, 4000);
  }
}

/** What is wrong, and with which fields. What is wrong with several is said once: each of them has it below. */
function told(failed) {
  const one = ([error, [name, ...others]]) => (others.length
    ? `${sentence(error)}: ${[name, ...others].map((text) => within(text.split(/[,;:]/)[0])).join(", ")}.`
    : `${name}: ${error}.`);
  return [...failed].map(one).join(" ");
}

/** Whether the form asks for chips beside the degrees that divide them. */
function dividesChips({divides, inputs}) {
  return divides.length > 0 && !inputs.some(({name}) => name === "chips");
}

/** States to start from, each a link to this page; a form inside of a text has none. */
function scenarios({scenarios: known}) {
  if (!known?.length || document.querySelectorAll(".fb-calculator").length > 1) return [];
  const links = known.flatMap(([label, query], n) => [n ? " · " : "", el("a", {href: `${location.pathname}${query}`}, label)]);
  return [el("p", {class: "fb-scenarios"}, "Start from: ", ...links)];
}
