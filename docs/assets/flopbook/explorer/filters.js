// Which entries are shown, and the controls that say so.

import {button, check, choice, el} from "../dom.js";
import {defaults} from "./state.js";

/** The entries that pass all filters. */
export function passing(model, state) {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const least = Number(state.memory) * 1e9;
  return model.entries.filter((entry) => {
    if (state.vendor.length && !state.vendor.includes(entry.vendor)) return false;
    if (state.kind.length && !state.kind.includes(entry.kind)) return false;
    if (state.status.length && !state.status.includes(entry.status)) return false;
    if (least && !(model.value(entry, "memory", state) >= least)) return false;
    if (state.only && model.value(entry, "peak", state) === null) return false;
    return inYears(model.value(entry, "date", state), state) && words.every((word) => entry.text.includes(word));
  });
}

function inYears(year, {from, to}) {
  if (!from && !to) return true;
  return year !== null && (!from || year >= Number(from)) && (!to || year < Number(to) + 1);
}

/** The panel of filters. `change(patch, typing)` is called with what the reader changed. */
export class Filters {
  constructor(host, model, change) {
    Object.assign(this, {host, model, change});
    this.count = el("span", {role: "status", class: "fb-count"});
    this.build();
  }

  show(state) {
    const {model} = this;
    for (const facet of this.facets) facet.show(state);
    for (const [name, control] of Object.entries(this.controls)) {
      if (control.type === "checkbox") control.checked = state[name];
      else if (control.value !== state[name]) control.value = state[name];
    }
    const peak = model.picked(state);
    this.hint.textContent = model.peaks.has(peak) ? "" : `no entry has ${model.peakWords(peak)}`;
    this.reset.hidden = String(Object.values(filterPart(state))) === String(Object.values(filterPart(defaults(model.data))));
  }

  build() {
    const {model, change} = this;
    const {data} = model;
    const used = (key) => new Set(model.entries.map((entry) => entry[key]));
    const named = (pairs, key) => pairs.filter(([value]) => used(key).has(value));
    this.facets = [
      new Facet("vendor", "Vendor", named(Object.entries(data.vendors).map(([id, [name]]) => [id, name]), "vendor"), change),
      new Facet("kind", "Kind", named(Object.entries(data.kinds_of_entry), "kind"), change),
      new Facet("status", "Status", [...used("status")].filter(Boolean).sort().map((one) => [one, one]), change),
    ];
    const search = el("input", {
      type: "search", autocomplete: "off", placeholder: "name, vendor, alias", input: (e) => change({q: e.target.value}, true),
    });
    const number = (name, attributes) => el("input", {
      type: "number", inputmode: "numeric", min: 0, ...attributes, input: (e) => change({[name]: e.target.value}, true),
    });
    const from = number("from", {placeholder: "from", "aria-label": "Year from"});
    const to = number("to", {placeholder: "to", "aria-label": "Year to"});
    const memory = number("memory", {step: "any"});
    const dtype = choice("Number format", model.formats(), data.start[0], (value) => change({dtype: value}));
    const sparsity = choice("Sparsity", sparsities(model), data.start[2], (value) => change({sparsity: value}));
    const only = check("only with this peak", false, (value) => change({only: value}));
    const control = (label) => label.querySelector("input, select");
    this.controls = {q: search, from, to, memory, dtype: control(dtype), sparsity: control(sparsity), only: control(only)};
    this.hint = el("span", {class: "fb-hint fb-wrong", role: "status"});
    this.reset = button("Clear filters", () => change(filterPart(defaults(data))));
    this.host.append(
      el("div", {class: "fb-row fb-facets"},
        el("label", {class: "fb-choice fb-grow"}, el("span", {}, "Find"), search), ...this.facets.map((f) => f.root),
        el("fieldset", {class: "fb-choice fb-years"}, el("legend", {}, "Year"), from, " ", to),
        el("label", {class: "fb-choice fb-small"}, el("span", {}, "Memory, GB at least"), memory)),
      el("div", {class: "fb-row fb-peak"}, dtype, sparsity, only, this.hint),
      el("div", {class: "fb-row fb-found"}, this.count, this.reset),
    );
  }
}

function sparsities({data}) {
  const used = new Set(data.peaks.map(([, , sparsity]) => sparsity));
  return Object.entries(data.sparsities).filter(([key]) => used.has(key));
}

function filterPart({q, vendor, kind, status, from, to, memory, only}) {
  return {q, vendor, kind, status, from, to, memory, only};
}

/** A folded list of boxes; none ticked means all. */
class Facet {
  constructor(name, label, options, change) {
    Object.assign(this, {name, options});
    this.said = el("span", {class: "fb-chosen"});
    this.boxes = new Map();
    const list = el("div", {class: "fb-options", role: "group", "aria-label": label});
    for (const [value, text] of options) {
      const box = check(text, false, () => change({[name]: this.chosen()}), {value});
      this.boxes.set(value, box.querySelector("input"));
      list.append(box);
    }
    this.fold = el("details", {class: "fb-facet"}, el("summary", {}, this.said), list);
    this.fold.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.fold.open) return;
      this.fold.open = false;
      this.fold.querySelector("summary").focus();
    });
    document.addEventListener("pointerdown", (event) => {
      if (this.fold.open && !this.fold.contains(event.target)) this.fold.open = false;
    });
    this.label = label;
    this.root = el("div", {class: "fb-choice"}, el("span", {"aria-hidden": "true"}, label), this.fold);
  }

  chosen() {
    return [...this.boxes].filter(([, box]) => box.checked).map(([value]) => value);
  }

  show(state) {
    const chosen = state[this.name];
    for (const [value, box] of this.boxes) box.checked = chosen.includes(value);
    const texts = this.options.filter(([value]) => chosen.includes(value)).map(([, text]) => text);
    const text = texts.length > 2 ? `${texts.length} of ${this.options.length}` : texts.join(", ") || "all";
    this.said.replaceChildren(el("span", {class: "fb-hidden"}, `${this.label}: `), text);
  }
}
