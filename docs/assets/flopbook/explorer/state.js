// The whole state of the explorer and its form in the address. What equals the default is not written.

export const VIEWS = ["table", "compare", "scatter", "trends"];
export const MOST = 6;

export function defaults(data) {
  return {
    view: "table", q: "", vendor: [], kind: ["package"], status: [], from: "", to: "", memory: "",
    dtype: data.start[0], sparsity: data.start[2], only: false,
    columns: ["peak", "intensity", ...data.columns], sort: "", compare: [], base: "",
    x: "memory_bandwidth", y: "peak", xlog: true, ylog: true, frontier: true, labels: true,
  };
}

/** The state that an address asks for, and what of it is unknown here. */
export function read(search, model) {
  const state = defaults(model.data);
  const unknown = [];
  for (const [key, text] of new URLSearchParams(search)) {
    if (!Object.hasOwn(state, key)) continue;
    const normal = state[key];
    let value = text;
    if (typeof normal === "boolean") value = text === "1";
    else if (Array.isArray(normal)) value = text ? text.split(",") : [];
    state[key] = valid(key, value, normal, {model, unknown});
  }
  return {state, unknown};
}

function valid(key, value, normal, {model, unknown}) {
  const allowed = choices(model)[key];
  const refuse = (one) => { unknown.push(`this link names an unknown ${key} '${String(one).slice(0, 60)}'`); };
  if (key === "compare") {
    const ids = value.map((name) => find(model, name) ?? refuse(name)).filter(Boolean);
    return [...new Set(ids)].slice(0, MOST);
  }
  if (key === "base") return value && (find(model, value) ?? refuse(value) ?? normal);
  if (["from", "to", "memory"].includes(key)) return /^\d+(\.\d+)?$/.test(value) || !value ? value : refuse(value) ?? normal;
  if (!allowed) return value;
  if (!Array.isArray(value)) return allowed(value) ? value : refuse(value) ?? normal;
  return value.filter((one) => allowed(one) || refuse(one));
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

/** The query of an address for a state: empty, or beginning with a question mark. */
export function write(state, data) {
  const normal = defaults(data);
  const found = [];
  for (const [key, value] of Object.entries(state)) {
    if (String(value) === String(normal[key])) continue;
    const text = typeof value === "boolean" ? String(Number(value)) : String(value);
    found.push(`${key}=${encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3A", ":")}`);
  }
  return found.length ? `?${found.join("&")}` : "";
}
