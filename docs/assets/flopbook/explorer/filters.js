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

// Letters and digits: no name has half as many, and an expression of thousands cannot be compiled.
const LONGEST_NAME = 200;

/**
 * The entries of a name: the words in one piece, as people write a product with spaces or without, or each, from the beginning
 * of a word. Only where no entry is called so may the piece stand anywhere: who types a100 means no Maia 100.
 */
function named(entries, find) {
  const whole = squash(find);
  if (!whole) return entries;
  if (whole.length > LONGEST_NAME) return [];
  const words = find.toLowerCase().split(/[^a-z0-9.]+/).filter(Boolean);
  const loose = words.length > 1 && words.every((word) => word.length > 1);
  const piece = new RegExp(` ${[...whole].join(" ?")}`);
  const found = entries.filter(({text, spelled}) => piece.test(spelled) || (loose && words.every((word) => text.includes(` ${word}`))));
  return found.length ? found : entries.filter(({squashed}) => squashed.some((name) => name.includes(whole)));
}

/** The entries that pass all filters. Who asks for a name and not for a kind gets systems where no chip is called so. */
export function passing(model, state) {
  if (isOpening(model, state)) return model.entries.filter(({current}) => current);
  const found = named(model.entries, state.find).filter((entry) => passes(model, state, entry));
  const asked = state.kind.length ? found.filter(({kind}) => state.kind.includes(kind)) : found;
  const isOpenKind = state.kind.join() === defaults(model.data).kind.join();
  return !asked.length && state.find && isOpenKind ? found : asked;
}

/** Whether these are of the kinds that the filter names, not found beyond them. */
export function isOfKind(state, entries) {
  return !state.kind.length || entries.every(({kind}) => state.kind.includes(kind));
}

function passes(model, state, entry) {
  const least = Number(state.memory) * 1e9;
  if (state.vendor.length && !state.vendor.includes(entry.vendor)) return false;
  if (state.status.length && !state.status.includes(entry.status)) return false;
  if (least && !(model.value(entry, "memory", state) >= least)) return false;
  if (state.only && model.value(entry, "peak", state) === null) return false;
  return inYears(model.value(entry, "date", state), state);
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
