// Two to six entries side by side: headlines with bars first, then every quantity that one of them has, and its ratio to the base.

import {button, choice, el} from "../dom.js";
import {formatQuantity} from "../quantity.js";
import {parts} from "./model.js";
import {MOST} from "./state.js";
import {shown} from "./value.js";

const HEADLINES = ["peak", "memory", "memory_bandwidth", "scaleup_bandwidth", "power", "efficiency"];
const KINDS = {peak: "fb-of-arithmetic", efficiency: "fb-of-arithmetic", power: "fb-of-power"};
const HOUR = 3600;
const FEW = 3; // so many fit beside each other on a phone

export class Compare {
  constructor(section, model, change) {
    Object.assign(this, {section, model, change});
  }

  show(state) {
    const entries = state.compare.map((id) => this.model.byId.get(id));
    const base = entries.find(({id}) => id === state.base) ?? entries[0];
    const rest = JSON.stringify({...state, price: []});
    if (rest === this.shown && this.dollars) return this.fillDollars(state, entries, base);
    this.shown = rest;
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
    const names = entries.map(({id, name}) => (
      button(`${name} ×`, () => this.change({toggle: id}, false, "[data-add]"), {"aria-label": `Remove ${name}`})
    ));
    return el("div", {class: "fb-row"}, add, ...(entries.length > 1 ? [pick] : []),
      el("span", {class: "fb-compared"}, ...names), el("span", {class: "fb-count", role: "status"}, ...hint(entries)));
  }

  table(state, entries, base) {
    const {model} = this;
    const heads = entries.map((entry) => el("th", {scope: "col", class: "fb-n"}, el("a", {href: `${entry.id}/`}, entry.name),
      ...(entry === base ? [" ", el("span", {class: "fb-badge"}, "base")] : [])));
    const row = (text, texts) => el("tr", {}, el("th", {scope: "row"}, text), ...texts.map((one) => el("td", {class: "fb-n"}, one || "-")));
    const body = el("tbody", {});
    const band = (text) => el("tr", {class: "fb-group"}, el("th", {scope: "rowgroup", colspan: entries.length + 1}, text));
    const headlines = HEADLINES.filter((id) => entries.some((entry) => model.cell(entry, id, state)));
    body.append(band("In short"));
    for (const id of headlines) body.append(this.row(id, this.label(id, state), state, {entries, base, headline: true}));
    body.append(...this.prices(state, entries, base),
      row("Kind", entries.map(({kind}) => model.data.kinds_of_entry[kind])), row("Status", entries.map(({status}) => status)));
    for (const {group, options} of model.options(state)) {
      const present = options.filter(([id]) => !HEADLINES.includes(id) && wanted(model, id, state, entries));
      if (!present.length) continue;
      body.append(band(group));
      for (const [id, text] of present) body.append(this.row(id, text, state, {entries, base}));
    }
    const scroll = el("div", {class: "fb-scroll", tabindex: 0, role: "region", "aria-label": "Comparison"});
    scroll.append(el("table", {class: entries.length <= FEW ? "fb-compare fb-few" : "fb-compare"},
      el("caption", {}, `Small figures are ratios to ${base.name}. A peak gets none where its source does not say whether it is dense.`), el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "Quantity"), ...heads)), body));
    return scroll;
  }

  label(id, state) {
    const {label} = this.model.quantity(id, state);
    return id === "peak" ? `Peak, ${label}` : label;
  }

  /** What an hour of each costs, as the reader types it or by the cheapest list price on file, and what a dollar buys then. */
  prices(state, entries, base) {
    const listed = entries.map(({id}) => this.model.prices[id]);
    const fields = entries.map(({name}, number) => el("input", {
      type: "text", inputmode: "decimal", autocomplete: "off", placeholder: listed[number]?.[0].toFixed(2) ?? "none on file", "aria-label": `Price of ${name}, USD per hour`,
      value: state.price[number] ?? "", "data-price": number, input: () => this.priced(entries.length),
    }));
    this.fields = fields;
    this.dollars = entries.map(() => el("td", {class: "fb-n"}, "-"));
    const cells = fields.map((field, number) => el("td", {class: "fb-n"}, field, ...source(entries[number], listed[number])));
    const rows = [
      el("tr", {}, el("th", {scope: "row"}, "Price, USD per hour"), ...cells),
      el("tr", {}, el("th", {scope: "row"}, "Peak per dollar"), ...this.dollars),
    ];
    this.fillDollars(state, entries, base);
    return rows;
  }

  priced() {
    const typed = [...this.section.querySelectorAll("[data-price]")].map((field) => field.value.trim());
    const price = typed.map((text) => (/^\d+(\.\d+)?$/.test(text) ? text : ""));
    this.change({price: price.some(Boolean) ? price : []}, true);
  }

  fillDollars(state, entries, base) {
    const {model} = this;
    const {unit} = model.quantity("peak", state);
    const bought = entries.map((entry, number) => {
      const listed = this.fields[number].value.trim() ? null : model.prices[entry.id]?.[0];
      const [peak, price] = [model.value(entry, "peak", state), Number(state.price[number] || listed)];
      return peak && price > 0 ? {value: (peak * HOUR) / price} : null;
    });
    const amounts = bought.filter(Boolean).map(({value}) => value);
    const first = bought[entries.indexOf(base)];
    bought.forEach((cell, number) => this.dollars[number].replaceChildren(...(cell ? [
      formatQuantity(cell.value, `${unit.split("/")[0]}/USD`), ...best(cell, top(amounts, 1)),
      bar(cell.value / Math.max(...amounts), "fb-of-arithmetic"), ...ratio(cell, first, entries[number] === base),
    ] : ["-"])));
  }

  row(id, text, state, {entries, base, headline = false}) {
    const {model} = this;
    const {key, unit, better} = model.quantity(id, state);
    const values = entries.map((entry) => model.value(entry, id, state)).filter((value) => value !== null);
    const winner = headline ? top(values, better) : null;
    const most = Math.max(...values);
    const isMixed = new Set(entries.map((entry) => model.cell(entry, id, state)?.binary).filter((one) => one !== undefined)).size > 1;
    const unstated = key.startsWith("peak:") && parts(key).sparsity === "unstated";
    const first = model.cell(base, id, state);
    const cells = entries.map((entry) => {
      const cell = model.cell(entry, id, state);
      const missing = cell ? "" : model.missing(entry, id, state);
      const notes = cell && [isMixed && cell.binary ? formatQuantity(cell.value, unit) : "", unit === "year" ? "" : cell.kind, entry !== base && first && unit === "W" && cell.kind !== first.kind ? "another kind of power than the base" : ""];
      return el("td", {class: "fb-n", "data-entry": entry.id, "data-key": key}, cell ? shown(model, {entry, id, state, full: true}) : el("span", {class: "fb-none"}, missing || "-"),
        ...best(cell, winner),
        ...(headline && cell && !unstated ? [bar(cell.value / most, KINDS[id])] : []),
        ...(ratio(cell, first, entry === base || unstated || unit === "year")),
        ...(notes || []).filter(Boolean).map((note) => el("small", {}, note)));
    });
    return el("tr", {}, el("th", {scope: "row"}, text), ...cells);
  }
}

/** What helps a reader who has not chosen enough, or may choose no more. */
function hint({length}) {
  if (length >= MOST) return ["Six at most."];
  if (length > 1) return [];
  return ["Choose two to six, here or with the boxes of the table, or open ", el("a", {href: "../compare/"}, "a pair that people ask for"), "."];
}

/** The best of several values; none where all are equal. */
function top(values, better) {
  if (new Set(values).size < 2) return null;
  return better > 0 ? Math.max(...values) : Math.min(...values);
}

function best(cell, value) {
  return cell && cell.value === value ? [" ", el("span", {class: "fb-badge fb-best"}, "best")] : [];
}

/** How large a value is among those beside it; the number says it too. */
function bar(share, kind = "") {
  return el("span", {class: `fb-length ${kind}`.trim(), style: `--fb-share: ${share.toFixed(3)}`, "aria-hidden": "true"});
}

/** Where a list price is from: the chip's page has them all. */
function source({id}, price) {
  if (!price) return [];
  return [el("small", {}, el("a", {href: `${id}/#price-by-the-hour`, title: price[1]}, "cheapest list price"))];
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
