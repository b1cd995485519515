// The fields of a form: pickers, typed values with their hints, and groups that fold away what nobody asked about.

import {el, say} from "./dom.js";
import {example} from "./link.js";
import {formatQuantity} from "./quantity.js";
import {lent} from "./values.js";

const PICKERS = {chip: "Chip", model: "Model", dtype: "Number format", sparsity: "Sparsity"};
const NONE = ["", "none: type the values"];

export function sentence(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** What an input is called: its meaning without what explains it. */
export function label(spec, name) {
  return sentence(spec.inputs.find((input) => input.name === name).meaning.split(/[,;]/)[0]);
}

/** A control with its label and a place for its hint. */
export class Field {
  constructor(prefix, name, text, make) {
    const id = `${prefix}-${name}`;
    this.hint = el("span", {class: "fb-hint", id: `${id}-hint`});
    this.control = make({id, name, "aria-describedby": this.hint.id});
    this.box = el("div", {class: "fb-field"}, el("label", {for: id}, text), this.control, this.hint);
  }

  /** The choice of a chip, a model, a number format or a sparsity. */
  static picker(prefix, name, data) {
    const named = (entries) => [NONE, ...entries.map((entry) => [entry.id, entry.name])];
    const options = {
      chip: () => named(data.chips),
      model: () => named(data.models),
      dtype: () => Object.keys(data.bytes).map((format) => [format, format]),
      sparsity: () => [["dense", "dense"], ["2:4", "2:4 sparse"]],
    }[name]();
    const field = new Field(prefix, name, PICKERS[name], (attributes) => select(attributes, options));
    field.box.classList.toggle("fb-wide", name === "chip" || name === "model");
    return field;
  }

  /** A value to type, or one of several words. */
  static input(prefix, input) {
    const unit = input.unit === "1" ? "" : ` (${input.unit})`;
    const open = lent(input) ? [["", `as the ${input.model ? "model" : "chip"}, else ${input.default}`]] : [];
    const make = (attributes) => (input.choices.length
      ? select(attributes, [...open, ...input.choices.map((choice) => [choice, choice])])
      : el("input", {...attributes, type: "text", autocomplete: "off", spellcheck: "false"}));
    return new Field(prefix, input.name, sentence(input.meaning) + unit, make);
  }

  get text() {
    return this.control.value.trim();
  }

  /** Say what became of an input: an error, how it was read, or where its value comes from. */
  say(input, found) {
    const wrong = Boolean(found.error);
    if (wrong && this.text) this.control.setAttribute("aria-invalid", "true");
    else this.control.removeAttribute("aria-invalid");
    say(this.hint, hintOf(input, found));
    this.hint.classList.toggle("fb-wrong", wrong);
  }
}

function select(attributes, options) {
  return el("select", attributes, ...options.map(([value, text]) => el("option", {value}, text)));
}

function hintOf(input, found) {
  if (found.error) return found.error;
  if (found.given || (input.choices.length && !lent(input))) {
    return found.given && !input.choices.length ? `= ${formatQuantity(found.value, input.unit)}` : "";
  }
  if (found.open || (found.value === 0 && input.unit === "s")) return "optional"; // no time is zero: the meaning says what holds
  const source = found.source ? `, source ${found.source}` : "";
  const shown = input.choices.length ? found.value : formatQuantity(found.value, input.unit);
  return `${shown} (${found.origin}${source})`;
}

/** Inputs under one name. Open at first where the first example or the formula needs it; what is filled stays in view. */
export class Group {
  constructor(name, inputs, spec) {
    const used = example(spec);
    Object.assign(this, {name, inputs, said: el("span", {class: "fb-count"}), pinned: false});
    this.fields = el("div", {class: "fb-fields"});
    this.summary = el("summary", {}, name, " ", this.said);
    this.box = el("details", {class: "fb-group"}, this.summary, this.fields);
    this.box.open = inputs.some((input) => !input.optional || used.has(input.name));
    this.summary.addEventListener("click", (event) => {
      if (this.pinned) event.preventDefault();
    });
  }

  /** Count what is filled; a field that is filled or wrong is never folded away. */
  show(resolved) {
    const found = this.inputs.map(({name}) => resolved[name]);
    const wrong = found.filter(({error}) => error).length;
    const filled = found.filter(({given}) => given).length;
    const from = found.filter(({given, origin}) => !given && origin && origin !== "default");
    this.pinned = wrong + filled > 0;
    if (this.pinned) this.box.open = true;
    if (this.pinned) this.summary.setAttribute("aria-disabled", "true");
    else this.summary.removeAttribute("aria-disabled");
    const words = [wrong && `${wrong} to fill in or mend`, filled && `${filled} filled`, from.length && `${from.length} from ${from[0].origin}`];
    say(this.said, words.filter(Boolean).join(", ") || `${found.length} at their defaults`);
  }
}

/** Fields in the order of the formula: those of no group first, then the groups, folded ones last. */
export function arrange(spec, boxes) {
  const names = [...new Set(spec.inputs.map((input) => input.group))].filter(Boolean);
  const groups = names.map((name) => new Group(name, spec.inputs.filter((input) => input.group === name), spec));
  groups.sort((a, b) => b.box.open - a.box.open);
  for (const group of groups) group.fields.append(...group.inputs.map(({name}) => boxes.get(name)));
  const single = spec.inputs.filter((input) => !input.group).map(({name}) => boxes.get(name));
  return {groups, parts: [el("div", {class: "fb-fields"}, ...single), ...groups.map(({box}) => box)]};
}
