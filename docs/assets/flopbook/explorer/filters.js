// Which entries are shown, and the controls that say so.

import {button, check, choice, el} from "../dom.js";
import {Facet, cleared, filtered, finder, inYears, numberField, showFields, years} from "./panel.js";
import {defaults} from "./state.js";

const FILTERS = ["find", "vendor", "kind", "status", "from", "to", "memory", "only"];

/** The entries that pass all filters. */
export function passing(model, state) {
  const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
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
    showFields(this.controls, state);
    const peak = model.picked(state);
    this.hint.textContent = model.peaks.has(peak) ? "" : `no entry has ${model.peakWords(peak)}`;
    this.reset.hidden = !filtered(state, defaults(model.data), FILTERS);
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
    const search = finder("name, vendor, alias", change);
    const {from, to, root} = years(change);
    const memory = numberField("memory", change, {step: "any"});
    const dtype = choice("Number format", model.formats(), data.start[0], (value) => change({dtype: value}));
    const sparsity = choice("Sparsity", sparsities(model), data.start[2], (value) => change({sparsity: value}));
    const only = check("only with this peak", false, (value) => change({only: value}));
    const control = (label) => label.querySelector("input, select");
    this.controls = {find: search, from, to, memory, dtype: control(dtype), sparsity: control(sparsity), only: control(only)};
    this.hint = el("span", {class: "fb-hint fb-wrong", role: "status"});
    this.reset = button("Clear filters", () => change(cleared(defaults(data), FILTERS)));
    this.host.append(
      el("div", {class: "fb-row fb-facets"},
        el("label", {class: "fb-choice fb-grow"}, el("span", {}, "Find"), search), ...this.facets.map((f) => f.root),
        root,
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
