// Which entries are shown, and the controls that say so.

import {button, check, choice, el} from "../dom.js";
import {Facet, cleared, filtered, finder, inYears, numberField, showFields, years} from "./panel.js";
import {squash} from "./model.js";
import {defaults} from "./state.js";

const ORDERS = [
  ["", "newest first"], ["-peak", "peak"], ["-memory", "memory"], ["-memory_bandwidth", "bandwidth"], ["power", "least power"], ["name", "name"],
];
const FILTERS = ["find", "vendor", "kind", "status", "from", "to", "memory", "only"];

/** Whether the reader has asked for nothing yet: then the chips of today are shown, not those of twenty years. */
export function isOpening(model, state) {
  return !state.all && !filtered(state, defaults(model.data), FILTERS);
}

/** A test of names: the words in one piece, as people write a product with spaces or without, else each at the beginning of a word. */
function finding(find) {
  const whole = squash(find);
  const words = find.toLowerCase().split(/[^a-z0-9.]+/).filter(Boolean);
  const loose = words.length > 1 && words.every((word) => word.length > 1);
  if (!whole) return () => true;
  return ({text, squashed}) => squashed.some((name) => name.includes(whole)) || (loose && words.every((word) => text.includes(` ${word}`)));
}

/** The entries that pass all filters. */
export function passing(model, state) {
  if (isOpening(model, state)) return model.entries.filter(({current}) => current);
  const isFound = finding(state.find);
  const least = Number(state.memory) * 1e9;
  return model.entries.filter((entry) => {
    if (state.vendor.length && !state.vendor.includes(entry.vendor)) return false;
    if (state.kind.length && !state.kind.includes(entry.kind)) return false;
    if (state.status.length && !state.status.includes(entry.status)) return false;
    if (least && !(model.value(entry, "memory", state) >= least)) return false;
    if (state.only && model.value(entry, "peak", state) === null) return false;
    return inYears(model.value(entry, "date", state), state) && isFound(entry);
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
    const opening = isOpening(model, state);
    this.reset.hidden = opening;
    this.every.hidden = !opening;
    this.order.querySelector("select").value = ORDERS.some(([sort]) => sort === state.sort) ? state.sort : "";
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
    const search = finder("name, family, vendor, alias", change);
    const {from, to, root} = years(change);
    const memory = numberField("memory", change, {step: "any"});
    const dtype = choice("Number format", model.formats(), data.start[0], (value) => change({dtype: value}));
    const sparsity = choice("Sparsity", sparsities(model), data.start[2], (value) => change({sparsity: value}));
    const only = check("only with this peak", false, (value) => change({only: value}));
    const control = (label) => label.querySelector("input, select");
    this.controls = {find: search, from, to, memory, dtype: control(dtype), sparsity: control(sparsity), only: control(only)};
    this.hint = el("span", {class: "fb-hint fb-wrong", role: "status"});
    this.reset = button("Clear filters", () => change({...cleared(defaults(data), FILTERS), all: false}));
    this.every = button("Show all chips", () => change({all: true}));
    this.order = choice("Sort", ORDERS, "", (sort) => change({sort}));
    this.order.classList.add("fb-order");
    this.host.append(
      el("div", {class: "fb-row fb-facets"},
        el("label", {class: "fb-choice fb-grow"}, el("span", {}, "Find"), search), ...this.facets.map((f) => f.root),
        root,
        el("label", {class: "fb-choice fb-small"}, el("span", {}, "Memory, GB at least"), memory)),
      el("div", {class: "fb-row fb-peak"}, dtype, sparsity, only, this.hint),
      el("div", {class: "fb-row fb-found"}, this.count, this.every, this.reset, this.order),
    );
  }
}

function sparsities({data}) {
  const used = new Set(data.peaks.map(([, , sparsity]) => sparsity));
  return Object.entries(data.sparsities).filter(([key]) => used.has(key));
}
