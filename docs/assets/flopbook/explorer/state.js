// The whole state of the explorer, and which values of it there are.

import {among, number, parse} from "./address.js";

export const VIEWS = ["table", "compare", "scatter", "trends"];
export const MOST = 6;

export function defaults(data) {
  return {
    view: "table", all: false, find: "", vendor: [], kind: ["package"], status: [], from: "", to: "", memory: "",
    dtype: data.start[0], sparsity: data.start[2], only: false,
    columns: ["peak", "intensity", ...data.columns], sort: "", compare: [], base: "", price: [],
    x: "memory_bandwidth", y: "peak", xlog: true, ylog: true, frontier: true, labels: true,
  };
}

/** The state that an address asks for, and what of it is unknown here. */
export function read(search, model) {
  const allowed = choices(model);
  const found = parse(search, defaults(model.data), (key, value, normal, refuse) => {
    if (key === "compare") return value.map((name) => find(model, name) ?? refuse(name));
    if (key === "base") return value && (find(model, value) ?? refuse(value) ?? normal);
    if (key === "price") return value.map((one) => (/^\d+(\.\d+)?$/.test(one) || !one ? one : refuse(one) ?? ""));
    if (["from", "to", "memory"].includes(key)) return number(value, normal, refuse);
    return allowed[key] ? among(allowed[key], value, normal, refuse) : value;
  });
  return compared(found);
}

/** Prices stand in the order of the products, so what is not compared takes its price along. */
function compared({state, unknown}) {
  const prices = new Map(state.compare.map((id, n) => [id, state.price[n] ?? ""]));
  prices.delete(undefined); // products that there are not
  const compare = [...prices.keys()].slice(0, MOST);
  const price = compare.map((id) => prices.get(id));
  const left = prices.size - compare.length;
  return {
    state: {...state, compare, price: price.some(Boolean) ? price : []},
    unknown: left ? [...unknown, `This link compares ${prices.size} products; the first ${MOST} are shown.`] : unknown,
  };
}

function choices(model) {
  const has = (list) => (one) => list.includes(one);
  const quantity = (id) => id === "peak" || model.plain.has(id) || model.peaks.has(id);
  return {
    view: has(VIEWS), x: quantity, y: quantity, columns: quantity,
    vendor: (one) => Object.hasOwn(model.data.vendors, one),
    kind: (one) => Object.hasOwn(model.data.kinds_of_entry, one),
    status: has(model.entries.map((entry) => entry.status)),
    sparsity: (one) => Object.hasOwn(model.data.sparsities, one),
    dtype: (one) => model.formats().some(({options}) => options.some(([value]) => value === one)),
    sort: (one) => ["name", "kind", "status"].includes(one.replace("-", "")) || quantity(one.replace("-", "")),
  };
}

/** An entry's id from an id, a product or an alias. */
function find(model, name) {
  const wanted = name.trim().toLowerCase();
  if (model.byId.has(wanted)) return wanted;
  return model.entries.find(({id, aliases}) => id.split("/")[1] === wanted || aliases.includes(wanted))?.id;
}
