// A state and its form in the address of a page. What equals the default is not written.

import {lacking, quoted} from "../strangers.js";

// What the keys of an address mean, where they do not say it themselves.
const NAMES = {
  compare: "product", base: "product", columns: "column", dtype: "number format", from: "year", to: "year", x: "quantity", y: "quantity",
  sort: "order", pick: "work",
};

/**
 * The state that an address asks for, and sentences that say what of it is unknown here. `valid(key, value, normal, refuse)` gives a
 * value that is one, and refuses others.
 */
export function parse(search, normal, valid) {
  const state = {...normal};
  const unknown = [];
  for (const [key, text] of new URLSearchParams(search)) {
    if (!Object.hasOwn(normal, key)) continue;
    let value = text;
    if (typeof normal[key] === "boolean") value = text === "1";
    else if (Array.isArray(normal[key])) value = text ? text.split(",") : [];
    const refuse = (one) => { unknown.push(`${NAMES[key] ?? key} ${quoted(String(one))}`); };
    state[key] = valid(key, value, normal[key], refuse);
  }
  const told = lacking(unknown, search, (key) => Object.hasOwn(normal, key), "page");
  return {state, unknown: told ? [told] : []};
}

/** The value where it is among the allowed ones; of a list those that are. */
export function among(allowed, value, normal, refuse) {
  if (!Array.isArray(value)) return allowed(value) ? value : refuse(value) ?? normal;
  return value.filter((one) => allowed(one) || refuse(one));
}

export function number(value, normal, refuse) {
  return /^\d+(\.\d+)?$/.test(value) || !value ? value : refuse(value) ?? normal;
}

/** The query of an address for a state: empty, or beginning with a question mark. */
export function query(state, normal) {
  const found = [];
  for (const [key, value] of Object.entries(state)) {
    if (String(value) === String(normal[key])) continue;
    const text = typeof value === "boolean" ? String(Number(value)) : String(value);
    found.push(`${key}=${encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3A", ":")}`);
  }
  return found.length ? `?${found.join("&")}` : "";
}

/** Keeps a state in the address. Each change is a step back; letters typed one by one make one step. */
export class Address {
  constructor({normal, read, show}) {
    Object.assign(this, {normal, read, show, typing: false});
    addEventListener("popstate", () => this.restore());
  }

  restore() {
    const {state, unknown} = this.read(location.search);
    this.state = state;
    this.show(unknown);
  }

  change(patch, typing = false, said = []) {
    this.state = {...this.state, ...patch};
    const address = location.pathname + query(this.state, this.normal) + location.hash;
    history[typing && this.typing ? "replaceState" : "pushState"](null, "", address);
    this.typing = typing;
    this.show(said);
  }
}
