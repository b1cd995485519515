// The data of the explorer: entries, quantities, values. A peak is read for one number format, engine and sparsity only.

import {binaryBytes, formatQuantity, typeset, useTables} from "../quantity.js";

export const NOT_RECORDED = "not recorded";
const GROUPED = 1e6; // from here on other texts count in powers of ten

export class Model {
  constructor(data) {
    useTables({...data, suffixes: {}, plain: {}});
    this.data = data;
    this.entries = data.entries.map(([id, name, vendor, kind, status, aliases, values, family, current]) => {
      const [vendorName, group] = data.vendors[vendor];
      const names = [id, name, vendorName, family, data.kinds_of_entry[kind], status, ...aliases];
      const text = ` ${names.join(" ").toLowerCase().replace(/[^a-z0-9.]+/g, " ")}`;
      const squashed = names.map(squash);
      const spelled = names.map(spell).join("|");
      return {id, name, vendor, vendorName, group, kind, status, aliases, values, current: Boolean(current), text, squashed, spelled, short: short(name, vendorName, vendor)};
    });
    this.byId = new Map(this.entries.map((entry) => [entry.id, entry]));
    this.plain = new Map([...data.quantities, ...data.ratios].map((quantity) => [quantity.id, quantity]));
    this.peaks = new Map(data.peaks.map(([dtype, engine, sparsity, unit]) => [peakId(dtype, engine, sparsity), unit]));
  }

  /** Values beyond those that the table opens with, the texts that they share, and list prices. */
  add({values, prices, ...shared}) {
    this.prices = prices;
    for (const [name, texts] of Object.entries(shared)) this.data[name].push(...texts);
    for (const entry of this.entries) Object.assign(entry.values, values[entry.id]);
    this.isWhole = true;
  }

  /** Whether a state asks for values beyond those. */
  asksMore({view, columns, dtype, sparsity, sort, only}) {
    const {start, columns: own} = this.data;
    const plain = [...own, "peak", "intensity", "date", "name", "kind", "status"];
    const isStart = dtype === start[0] && sparsity === start[2];
    return view !== "table" || !isStart || only || columns.join() !== ["peak", "intensity", ...own].join() || (sort && !plain.includes(sort.replace("-", "")));
  }

  /** The id of the peak that the reader picked. */
  picked({dtype, sparsity}) {
    const [format, engine = "tensor"] = dtype.split(".");
    return peakId(format, engine, sparsity);
  }

  /** What is known of a quantity: label, unit, whether more is better. */
  quantity(id, state) {
    const name = id === "peak" ? this.picked(state) : id;
    if (name.startsWith("peak:")) {
      return {id, label: this.peakWords(name), unit: this.peaks.get(name) ?? "FLOP/s", better: 1, over: [], key: name};
    }
    const found = this.plain.get(id);
    if (!found?.over.includes("peak")) return found && {...found, key: id};
    const integer = (this.peaks.get(this.picked(state)) ?? "").startsWith("OP");
    const own = (text) => (integer ? text.replace("FLOP", "OP") : text);
    return {...found, key: id, label: own(found.label), unit: own(found.unit)};
  }

  peakWords(name) {
    const {dtype, engine, sparsity} = parts(name);
    return [dtype, ...(engine === "vector" ? ["vector"] : []), this.data.sparsities[sparsity] ?? sparsity].join(" ");
  }

  /** A value with its source and conditions, or null; of a ratio, what holds of either part. */
  cell(entry, id, state) {
    const quantity = this.quantity(id, state);
    if (!quantity) return null;
    if (quantity.over.length) return this.ratio(quantity, entry, state);
    const raw = entry.values[quantity.key];
    if (!Array.isArray(raw)) return null;
    const [value, place, source, marks = 0, kind = 0, binary = 0] = raw;
    return {value, place, source: this.data.sources[source], marks: this.data.marks[marks], kind: this.data.kinds[kind], key: quantity.key, binary};
  }

  ratio(quantity, entry, state) {
    const [top, bottom] = quantity.over.map((id) => this.cell(entry, id, state));
    if (!top || !bottom || !bottom.value) return null;
    const marks = [...new Set([...top.marks, ...bottom.marks])].filter((mark) => this.data.loud.includes(mark));
    return {value: top.value / bottom.value, marks, kind: "", computed: true};
  }

  value(entry, id, state) {
    return this.cell(entry, id, state)?.value ?? null;
  }

  words({unit, shown}, value) {
    if (unit === "year") return String(Math.floor(value));
    const text = shown ? formatQuantity(value / this.data.factors[shown], shown) : formatQuantity(value, unit);
    return typeset(text.replace(/ count$/, ""));
  }

  /** A cell in a sentence: a capacity as its source prints it, 32 GiB. */
  cellWords(quantity, {value, binary}) {
    return binary ? binaryBytes(value) : this.words(quantity, value);
  }

  /** A cell as a table shows it: in the unit of its column, which is a larger one for what is built of many chips. */
  inColumn({id, unit, ...more}, {value, binary}, {kind}) {
    const {column_units: columns, factors, large} = this.data;
    const units = columns[id] ?? columns[unit];
    if (!units || binary) return this.cellWords({id, unit, ...more}, {value, binary});
    const name = units[Number(large.includes(kind))];
    const amount = value / factors[name];
    return `${amount >= GROUPED ? Math.round(amount).toLocaleString("en") : formatQuantity(amount, "1")} ${name}`;
  }

  /** Why there is no value; a peak of another sparsity is named, never used. */
  missing(entry, id, state) {
    const quantity = this.quantity(id, state);
    if (quantity.over.length) return "";
    if (typeof entry.values[quantity.key] === "string") return entry.values[quantity.key];
    if (!quantity.key.startsWith("peak:")) return NOT_RECORDED;
    const {dtype, engine, sparsity} = parts(quantity.key);
    const others = Object.keys(this.data.sparsities)
      .filter((other) => other !== sparsity && Array.isArray(entry.values[peakId(dtype, engine, other)]));
    if (!others.length) return NOT_RECORDED;
    const named = others.map((other) => this.data.sparsities[other]).join(", ");
    return sparsity === "unstated" ? `stated, see ${named}` : `only ${named}`;
  }

  /** Number formats as options, by engine. */
  formats() {
    const found = {};
    for (const [dtype, engine] of this.data.peaks) {
      const value = engine === "tensor" ? dtype : `${dtype}.${engine}`;
      (found[engine] ??= new Map()).set(value, engine === "tensor" ? dtype : `${dtype} ${engine}`);
    }
    return Object.entries(found).map(([engine, options]) => ({group: this.data.engines[engine], options: [...options]}));
  }

  /** All quantities as options for axes and columns. */
  options(state, ratios = true) {
    const plain = this.data.quantities.map(({id, label}) => [id, label]);
    const over = ratios ? this.data.ratios.map(({id}) => [id, this.quantity(id, state).label]) : [];
    const peaks = [...this.peaks.keys()].map((id) => [id, this.peakWords(id)]);
    return [
      {group: `Peak and ratios, ${this.peakWords(this.picked(state))}`, options: [["peak", `Peak, ${this.peakWords(this.picked(state))}`], ...over]},
      {group: "Quantities", options: plain}, {group: "Peaks", options: peaks},
    ];
  }
}

/** A name without what people leave out or put in between letters and digits. */
export function squash(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "");
}

/** A name with a space before each run of letters and of digits, at which a reader may begin. */
function spell(name) {
  return ` ${(name.toLowerCase().match(/[a-z]+|\d+/g) ?? []).join(" ")}`;
}

export function peakId(dtype, engine, sparsity) {
  return `peak:${dtype}:${engine}:${sparsity}`;
}

/** The sparsity 2:4 has a colon of its own. */
export function parts(name) {
  const [, dtype, engine, ...sparsity] = name.split(":");
  return {dtype, engine, sparsity: sparsity.join(":")};
}

function short(name, vendorName, vendor) {
  const [first, ...rest] = name.split(" ");
  return rest.length && [vendorName.toLowerCase(), vendor].includes(first.toLowerCase()) ? rest.join(" ") : name;
}
