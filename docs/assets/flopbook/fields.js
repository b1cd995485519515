// The fields of a form: pickers, typed values with their hints, and groups that fold away what nobody asked about.

import {el, say} from "./dom.js";
import {example, inner, pairs} from "./link.js";
import {typeset, written} from "./quantity.js";
import {lent} from "./values.js";

const PICKERS = {chip: "Chip", model: "Model", dtype: "Number format", sparsity: "Sparsity", chips: "Number of chips"};
const COUNTED = new Set(["1", "chip", "token", "param", "USD/s"]); // the label says of what
const NONE = ["", "none: type the values"];
// What a label explains of its name stands behind a colon or semicolon, or in brackets at the end; "MLA: ..." begins with whose it is.
const EXPLAINED = /^(?![A-Z]+:)(.+?)((?:: |; ).+|(?: \([^()]*\))+)$/;
const ROOT = new URL("../../", import.meta.url);

export function sentence(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** A meaning in a few words, without what explains it. */
export function brief(meaning) {
  return sentence(meaning.split(/[,;:]| \(/)[0]);
}

/** What an input is called. */
export function label(spec, name) {
  return brief(spec.inputs.find((input) => input.name === name).meaning);
}

/** A label: the meaning without names that only the command line has. */
export function labelled(meaning) {
  return sentence(meaning.replace(/ \([^)]*--[^)]*\)/g, "").replace(/--([a-z-]+)/g, (_, name) => name.replaceAll("-", " ")));
}

/** A label without what explains it. */
export function unexplained(meaning) {
  const text = labelled(meaning);
  return EXPLAINED.exec(text)?.[1] ?? text;
}

/** What an input is called, for a field that may be a choice by name. */
function short(spec, name) {
  return PICKERS[name] ?? label(spec, name);
}

/** The same within a sentence. */
export function called(spec, name) {
  return within(short(spec, name));
}

/** A label within a sentence; an abbreviation keeps its capitals. */
export function within(text) {
  return text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

/** A label's name, and in lighter type what explains it. */
function lettered(text) {
  const [, name, explanation] = EXPLAINED.exec(text) ?? [null, text];
  return explanation ? [name, el("span", {}, explanation)] : [name];
}

/** A control with its label and a place for its hint. */
export class Field {
  constructor(prefix, name, text, make) {
    const id = `${prefix}-${name}`;
    this.hint = el("span", {class: "fb-hint", id: `${id}-hint`});
    this.control = make({id, name, "aria-describedby": this.hint.id});
    this.box = el("div", {class: "fb-field"}, el("label", {for: id}, ...lettered(text)), this.control, this.hint);
  }

  /** The choice of a chip, a model, a number format or a sparsity; or the number of chips, which is typed. */
  static picker(prefix, name, data) {
    if (name === "chips") return new Field(prefix, name, PICKERS.chips, box);
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
    const unit = COUNTED.has(input.unit) ? "" : ` (${typeset(input.unit)})`;
    const open = lent(input) ? [["", `as the ${input.model ? "model" : "chip"}, else ${input.default}`]] : [];
    const make = (attributes) => (input.choices.length
      ? select(attributes, [...open, ...input.choices.map((choice) => [choice, choice])])
      : box(attributes));
    return new Field(prefix, input.name, labelled(input.meaning) + unit, make);
  }

  get text() {
    return this.control.value.trim();
  }

  /** The value as people read it: of a choice its words. */
  get chosen() {
    return this.control.selectedOptions?.[0]?.textContent ?? this.text;
  }

  /** Say what became of an input: an error, how it was read, or where its value comes from. */
  say(input, found) {
    const hint = hintOf(input, found, this.text);
    this.tell(hint, Boolean(found.error));
    if (found.page && hint.endsWith(`(${found.origin})`)) this.link(hint, found);
  }

  /** Where a value comes from leads there. */
  link(hint, {origin, page}) {
    this.hint.replaceChildren(hint.slice(0, -origin.length - 1), el("a", {href: new URL(page, ROOT)}, origin), ")");
  }

  /** Put a hint below the field; a wrong one marks what was typed. */
  tell(hint, wrong) {
    if (wrong && this.text) this.control.setAttribute("aria-invalid", "true");
    else this.control.removeAttribute("aria-invalid");
    say(this.hint, hint);
    this.hint.classList.toggle("fb-wrong", wrong);
  }
}

function box(attributes) {
  return el("input", {...attributes, type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false"});
}

function select(attributes, options) {
  return el("select", attributes, ...options.map(([value, text]) => el("option", {value}, text)));
}

/** How a typed value was read; nothing where it was typed in plain digits. */
function reading(read, text) {
  return read.replaceAll(",", "").split(" ")[0] === text && /^\d+$/.test(text) ? "" : `= ${read}`;
}

function hintOf(input, found, text) {
  if (found.error) return found.error;
  if (input.text) return found.given ? "" : `${found.value} (${found.origin})`;
  if (found.given || (input.choices.length && !lent(input))) {
    return found.given && !input.choices.length ? reading(written(found.value, input.unit), text) : "";
  }
  if (found.open || (found.value === 0 && input.unit === "s")) return "optional"; // no time is zero: the meaning says what holds
  const shown = input.choices.length ? found.value : written(found.value, input.unit);
  return `${shown} (${found.origin})`;
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
    const words = [wrong && `${wrong} to fill in or correct`, filled && `${filled} filled`, from.length && `${from.length} from ${from[0].origin}`];
    say(this.said, words.filter(Boolean).join(", ") || `${found.length} at their defaults`);
  }
}

/** All that a form does not ask at first. Closed, it names what is set inside; what is wrong opens it. */
export class More {
  constructor(parts) {
    this.said = el("span", {class: "fb-count"});
    this.box = el("details", {class: "fb-typed"}, el("summary", {}, "More ", this.said), ...parts);
    this.box.hidden = !parts.some((part) => part.childElementCount);
  }

  show(spec, fields, resolved) {
    const inside = ({box}) => this.box.contains(box);
    const wrong = spec.inputs.some(({name}) => resolved[name].error && inside(fields.get(name)));
    if (wrong) this.box.open = true;
    const set = pairs(spec, fields).map(([name]) => inner(name)).filter((name) => inside(fields.get(name)));
    const words = set.map((name) => `${short(spec, name)} ${fields.get(name).chosen}`);
    say(this.said, words.length ? `set: ${words.join(", ")}` : "everything else at its default");
  }
}

/** The questions of a form in their order; then all other fields, those of no group first, then the groups, folded ones last. */
export function arrange(spec, boxes) {
  const asked = new Set(spec.asks);
  const names = [...new Set(spec.inputs.map((input) => input.group))].filter(Boolean);
  const rest = spec.inputs.filter(({name}) => !asked.has(name));
  const groups = names.map((name) => new Group(name, rest.filter((input) => input.group === name), spec)).filter(({inputs}) => inputs.length);
  groups.sort((a, b) => b.box.open - a.box.open);
  for (const group of groups) group.fields.append(...group.inputs.map(({name}) => boxes.get(name)));
  const single = [...boxes.keys()].filter((name) => !asked.has(name) && !rest.some((input) => input.name === name && input.group));
  const fields = (names) => el("div", {class: "fb-fields"}, ...names.map((name) => boxes.get(name)));
  const questions = fields(spec.asks);
  questions.classList.add("fb-questions");
  return {questions, groups, parts: [fields(single), ...groups.map(({box}) => box)]};
}
