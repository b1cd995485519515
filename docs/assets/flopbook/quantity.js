// Reads and writes amounts as the command line does; a test in the browser holds both equal.
// The tables of units come from the Python package (data.json).

let tables = {units: {}, prefixes: {}, customary: {}, counts: {}, suffixes: {}, plain: {}};

export function useTables(data) {
  tables = data;
}

/** Bytes of a value by number format, and the formats whose values share scales. */
export function formats() {
  return {widths: tables.bytes, blocks: tables.blocks};
}

const NUMBER = /^[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?/;

/** Text such as "3.35TB/s" as an SI value in the unit `expected`; throws an Error that says what would fit. */
export function parseQuantity(text, expected) {
  const stripped = text.trim();
  const match = NUMBER.exec(stripped);
  if (!match) throw new Error(`"${text}" is not a quantity`);
  const suffix = stripped.slice(match[0].length).trim();
  if (suffix.startsWith(",")) throw new Error("write thousands without a mark and decimals with a point");
  const value = Number(match[0].replaceAll("_", "")) * suffixFactor(suffix, expected);
  if (!Number.isFinite(value)) throw new Error("too large to be a quantity");
  return value;
}

const WAYS = {" both ways": 0.5, " both": 0.5, " one way": 1, " one-way": 1};

/** An amount without the words that say its direction, and which part of it goes one way; as `one_way` in Python. */
export function oneWay(text) {
  const stripped = text.trim();
  const found = Object.keys(WAYS).find((words) => stripped.endsWith(words));
  return found ? [stripped.slice(0, -found.length), WAYS[found]] : [text, 1];
}

/** True for a number without unit or suffix. */
export function isBare(text) {
  const stripped = text.trim();
  return NUMBER.exec(stripped)?.[0] === stripped;
}

function suffixFactor(suffix, expected) {
  if (!suffix) return 1;
  if (Object.hasOwn(tables.counts, expected) || expected === "1") {
    const suffixes = expected === "1" ? tables.plain : tables.suffixes;
    const letter = suffix.slice(0, Object.hasOwn(suffixes, suffix.slice(0, 2)) ? 2 : 1);
    const rest = suffix.slice(letter.length).trim(); // 16M, 16M tokens, 128Ki
    const fits = !rest || tables.counts[expected]?.includes(rest);
    if (fits && Object.hasOwn(suffixes, letter)) return suffixes[letter];
  } else if (Object.hasOwn(tables.prefixes, suffix) && suffix !== "m") {
    if (expected === "byte/s") throw new Error(`bytes or bits? Write ${suffix}B/s or ${suffix}b/s`);
    return tables.prefixes[suffix];
  }
  const found = unit(suffix);
  if (expected === "FLOP" && found.si === "PF-day") return unit("PFLOP/s-day").factor;
  const wanted = unit(expected);
  if (found.si !== expected && !sameDimensions(found, wanted)) {
    throw new Error(`in ${found.si}, expected ${expected}`);
  }
  return found.factor;
}

function sameDimensions(a, b) {
  const names = Object.keys(a.dimensions);
  return names.length > 0 && names.length === Object.keys(b.dimensions).length
    && names.every((name) => a.dimensions[name] === b.dimensions[name]);
}

function unit(name) {
  if (Object.hasOwn(tables.units, name)) {
    const [factor, si, dimensions] = tables.units[name];
    return {factor, si, dimensions};
  }
  const vendor = /^([kMGT]?)(bps|Bps|b\/s)$/.exec(name);
  if (vendor) return unit(`${vendor[1]}${vendor[2] === "Bps" ? "B" : "bit"}/s`);
  const [top, bottom, more] = name.split("/");
  if (bottom !== undefined && more === undefined && Object.hasOwn(tables.units, top) && Object.hasOwn(tables.units, bottom)) {
    const over = unit(top);
    const under = unit(bottom);
    const dimensions = {...over.dimensions};
    for (const [key, power] of Object.entries(under.dimensions)) {
      dimensions[key] = (dimensions[key] ?? 0) - power;
      if (dimensions[key] === 0) delete dimensions[key];
    }
    return {factor: over.factor / under.factor, si: `${over.si}/${under.si}`, dimensions};
  }
  throw new Error(`unknown unit "${name}"`);
}

/** An amount of bytes with a binary prefix, as the command writes it with --binary. */
export function binaryBytes(value) {
  const name = ["PiB", "TiB", "GiB", "MiB", "KiB"].find((one) => value >= tables.units[one][0]);
  return name && value < 2 ** 60 ? `${digits(value / tables.units[name][0])} ${name}` : formatQuantity(value, "byte");
}

/** An SI value for people: four significant digits and a readable prefix, as `format_quantity` in Python. */
export function formatQuantity(value, unitName) {
  if (value === null || value === undefined) return "not available";
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value > 0 ? "unlimited" : "-unlimited";
  if (unitName in tables.customary) return formatQuantity(value * tables.customary[unitName][1], tables.customary[unitName][0]);
  const [head, ...rest] = unitName.split("/");
  const tail = rest.length ? `/${rest.join("/")}` : "";
  if (head === "1") return digits(value);
  if (head === "USD" && !tail) return `${count(value)} USD`;
  if (head in tables.counts && !tail) return `${count(value)} ${plural(head, value)}`;
  const symbol = head === "byte" ? "B" : head;
  if (["FLOP", "OP", "B", "W", "J", "Hz"].includes(symbol) && Math.abs(value) >= 1000) {
    const [prefix, factor] = prefixOf(Math.abs(value));
    return `${digits(value / factor)} ${prefix}${symbol}${tail}`;
  }
  if (unitName === "s") return seconds(value);
  const more = ["year", "day", "hour", "byte"].includes(head) && !tail && value !== 1 ? "s" : "";
  return `${digits(value)} ${head}${more}${tail}`;
}

function prefixOf(value) {
  for (const name of ["E", "P", "T", "G", "M", "k"]) {
    if (value >= tables.prefixes[name]) return value < 1e22 ? [name, tables.prefixes[name]] : ["", 1];
  }
  return ["", 1];
}

function group(text) {
  const [whole, decimals] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return decimals ? `${grouped}.${decimals}` : grouped;
}

function trim(text) {
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) {
    if (size >= 1e4) return group(wholeNumber(value));
    const text = fairly(value).toPrecision(4);
    return text.includes("e") ? group(wholeNumber(value)) : group(trim(text));
  }
  const [mantissa, exponent] = fairly(value).toExponential(3).split("e");
  return `${trim(mantissa)}e${Number(exponent)}`;
}

/** A value that rounds to so many digits as Python rounds it: a tie, which its exact digits show, to the even neighbour. */
export function fairly(value, count = 4) {
  const digits = value.toExponential(60).split("e")[0].replace(/[-.]/g, "");
  const down = digits[count - 1] % 2 === 0 && /^50*$/.test(digits.slice(count));
  return down ? value * (1 - 1e-12) : value;
}

/** Rounded as Python rounds for print: a tie goes to the even neighbour. */
function wholeNumber(value) {
  const low = Math.floor(value);
  const tie = value - low === 0.5;
  return String(tie ? (low % 2 === 0 ? low : low + 1) : Math.round(value));
}

function count(value) {
  for (const [factor, name] of [[1e15, ""], [1e12, "trillion"], [1e9, "billion"], [1e6, "million"]]) {
    if (Math.abs(value) >= factor) return name ? `${digits(value / factor)} ${name}` : digits(value);
  }
  return digits(value);
}

function plural(head, value) {
  const words = tables.counts[head];
  return value === 1 ? head : words.length > 1 ? words[1] : head;
}

function seconds(value) {
  const sizes = [[365 * 86400, "year"], [86400, "day"], [3600, "h"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  for (const [size, name] of sizes) {
    if (Math.abs(value) >= size) return `${digits(value / size)} ${name}${size >= 86400 && value !== size ? "s" : ""}`;
  }
  return value === 0 ? "0 s" : `${digits(value * 1e9)} ns`;
}

const RAISED = {"-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹"};

/** A value or a sentence as print sets it; `typesetting.py` does the same for pages. */
export function typeset(text) {
  return text
    .replace(/(?<![\w.,])(\d+(?:\.\d+)?)e\+?(-?\d{1,3})(?![\w.]*\w)/g, (_, digits, power) => {
      const raised = [...power].map((letter) => RAISED[letter]).join("");
      return digits === "1" ? `10${raised}` : `${digits} × 10${raised}`;
    })
    .replace(/(?<![\w-])([mc]?m)([23])(?![\w-])/g, (_, length, sides) => length + RAISED[sides])
    .replace(/(?<!(?:^|[^\d.,])1)(?<=\d(?: (?:thousand|million|billion|trillion))?) (token|byte)\/(?=(?:s|param|token)\b)/g, " $1s/")
    .replace(/\b(TP|PP|CP|EP|DP|SP) (?=\d)/g, "$1\u00a0");
}

/** A quantity as a form shows it. */
export function written(value, unit) {
  return typeset(formatQuantity(value, unit));
}
