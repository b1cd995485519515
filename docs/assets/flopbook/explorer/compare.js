// Two to six entries side by side: every quantity that one of them has, and its ratio to the base.

import {button, choice, el} from "../dom.js";
import {parts} from "./model.js";
import {MOST} from "./state.js";
import {shown} from "./value.js";

export class Compare {
  constructor(section, model, change) {
    Object.assign(this, {section, model, change});
  }

  show(state) {
    const entries = state.compare.map((id) => this.model.byId.get(id));
    const base = entries.find(({id}) => id === state.base) ?? entries[0];
    this.section.replaceChildren(
      el("h2", {class: "fb-hidden"}, "Compare"), this.controls(state, entries, base),
      ...(entries.length > 1 ? [this.table(state, entries, base)] : []),
    );
  }

  controls(state, entries, base) {
    const free = this.model.entries.filter(({id}) => !state.compare.includes(id));
    const kinds = Object.entries(this.model.data.kinds_of_entry).map(([kind, group]) => (
      {group, options: free.filter((entry) => entry.kind === kind).map(({id, name}) => [id, name])}
    )).filter(({options}) => options.length);
    const add = choice("Add", [["", "choose"], ...kinds], "", (id) => id && this.change({toggle: id}, false, "[data-add]"), {"data-add": true});
    add.querySelector("select").disabled = entries.length >= MOST;
    const pick = choice("Ratios to", entries.map(({id, name}) => [id, name]), base?.id, (id) => this.change({base: id}, false, "[data-base]"), {"data-base": true});
    const hint = entries.length >= MOST ? "Six is the most." : entries.length > 1 ? "" : "Choose two to six, here or with the boxes of the table.";
    const names = entries.map(({id, name}) => (
      button(`${name} ×`, () => this.change({toggle: id}, false, "[data-add]"), {"aria-label": `Remove ${name}`})
    ));
    return el("div", {class: "fb-row"}, add, ...(entries.length > 1 ? [pick] : []),
      el("span", {class: "fb-compared"}, ...names), el("span", {class: "fb-count", role: "status"}, hint));
  }

  table(state, entries, base) {
    const {model} = this;
    const heads = entries.map((entry) => el("th", {scope: "col", class: "fb-n"}, el("a", {href: `${entry.id}/`}, entry.name),
      ...(entry === base ? [" ", el("span", {class: "fb-badge"}, "base")] : [])));
    const row = (text, texts) => el("tr", {}, el("th", {scope: "row"}, text), ...texts.map((one) => el("td", {class: "fb-n"}, one || "-")));
    const body = el("tbody", {},
      row("Kind", entries.map(({kind}) => model.data.kinds_of_entry[kind])), row("Status", entries.map(({status}) => status)));
    for (const {group, options} of model.options(state)) {
      const present = options.filter(([id]) => wanted(model, id, state, entries));
      if (!present.length) continue;
      body.append(el("tr", {class: "fb-group"}, el("th", {scope: "rowgroup", colspan: entries.length + 1}, group)));
      for (const [id, text] of present) body.append(this.row(id, text, state, {entries, base}));
    }
    const scroll = el("div", {class: "fb-scroll", tabindex: 0, role: "region", "aria-label": "Comparison"});
    scroll.append(el("table", {class: "fb-compare"},
      el("caption", {}, `Small figures are ratios to ${base.name}; there are none between peaks of which the sources do not say whether they are dense.`), el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "Quantity"), ...heads)), body));
    return scroll;
  }

  row(id, text, state, {entries, base}) {
    const {model} = this;
    const {key, unit} = model.quantity(id, state);
    const unstated = key.startsWith("peak:") && parts(key).sparsity === "unstated";
    const first = model.cell(base, id, state);
    const cells = entries.map((entry) => {
      const cell = model.cell(entry, id, state);
      const missing = cell ? "" : model.missing(entry, id, state);
      const notes = cell && [unit === "year" ? "" : cell.kind, entry !== base && first && unit === "W" && cell.kind !== first.kind ? "another kind of power than the base" : ""];
      return el("td", {class: "fb-n", "data-entry": entry.id, "data-key": key}, cell ? shown(model, {entry, id, state, full: true}) : el("span", {class: "fb-none"}, missing || "-"),
        ...(ratio(cell, first, entry === base || unstated || unit === "year")),
        ...(notes || []).filter(Boolean).map((note) => el("small", {}, note)));
    });
    return el("tr", {}, el("th", {scope: "row"}, text), ...cells);
  }
}

function ratio(cell, first, silent) {
  if (!cell || !first?.value || silent) return [];
  const share = cell.value / first.value;
  return [el("b", {class: "fb-ratio"}, `${share >= 100 ? Math.round(share).toLocaleString("en") : share.toPrecision(3)}×`)];
}

/** A row is there when one of the entries says something; the picked peak itself stands among the peaks. */
function wanted(model, id, state, entries) {
  if (id === "peak" || id === "date") return false;
  const {key, over} = model.quantity(id, state);
  return entries.some((entry) => (over.length ? model.cell(entry, id, state) : Object.hasOwn(entry.values, key)));
}
