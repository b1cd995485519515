// Kernels and the roofs of chips, as `flopbook.kernels.notation` reads them and in its words.

import {parseQuantity} from "../quantity.js";
import {printable, refuse, shorten, unknown, words} from "../refusals.js";

const MOST_KERNELS = 40;
const MOST_MACHINES = 6;
const LARGEST_SIZE = 1e12;
const LARGEST_RATE = 1e24;
const COMMON_WORDS = ["batch", "bytes", "rate"];
const UNITS = {rate: "FLOP/s", bytes: "byte"}; // these need not be whole
const ATTENTION = {heads: 1, "kv-heads": 0, "head-dim": 128};
// How many sides an operation has and in what form, and its own words with their defaults; null where a word is needed.
const OPERATIONS = {
  gemm: {sides: 3, form: "MxNxK", own: {}},
  gemv: {sides: 2, form: "NxK", own: {}},
  dot: {sides: 1, form: "K", own: {}},
  prefill: {sides: 0, form: "", own: {seq: null, ...ATTENTION}},
  decode: {sides: 0, form: "", own: {context: null, ...ATTENTION}},
  softmax: {sides: 2, form: "ROWSxCOLUMNS", own: {}},
  elementwise: {sides: 2, form: "ROWSxCOLUMNS", own: {reads: 1, writes: 1, flop: 1}},
  point: {sides: 1, form: "FLOP/byte", own: {}},
};

/** The kernels of a list with commas. */
export function readKernels(text) {
  const written = pieces(/[,;\n]/, text);
  if (!written.length) refuse("no kernel is given; write for example gemm 4096x4096x4096");
  if (written.length > MOST_KERNELS) refuse(`${written.length} kernels are too many for a picture, at most ${MOST_KERNELS}`);
  return written.map(kernel);
}

/** The chips of a list with semicolons, each with its peaks and bandwidths. */
export function readRoofs(text) {
  const written = pieces(/;/, text);
  if (!written.length) refuse("no roof is given; write for example bf16 989TFLOP/s, memory 3.35TB/s");
  if (written.length > MOST_MACHINES) refuse(`${written.length} chips are too many for a picture, at most ${MOST_MACHINES}`);
  if (written.length === 1) return [machine(written[0], "chip")];
  const machines = written.map((one, n) => machine(one, `chip ${n + 1}`));
  if (new Set(machines.map(({name}) => name)).size < machines.length) refuse("two chips have the same name");
  return machines;
}

/** The intensity at which each peak and each bandwidth of a chip meet, by their labels. */
export function ridges({peaks, bandwidths}) {
  return peaks.flatMap((peak) => bandwidths.map((one) => [`${peak.label} over ${one.label}`, peak.rate / one.rate]));
}

function pieces(separator, text) {
  return printable(text).split(separator).map((piece) => words(piece).join(" ")).filter(Boolean);
}

function kernel(text) {
  const [op, ...rest] = words(text);
  if (!Object.hasOwn(OPERATIONS, op)) unknown("kernel", op, Object.keys(OPERATIONS));
  const {sides: count, form, own} = OPERATIONS[op];
  const options = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== null));
  let sides = [];
  for (const word of rest) {
    if (word.includes("=")) {
      const [name, amount] = option(text, word, own);
      options[name] = amount;
    } else if (count && !sides.length) sides = sidesOf(text, word, op);
    else unknownWord(text, word, own);
  }
  if (sides.length !== count) refuse(`'${shorten(text)}' has ${sides.length} sides, expected ${count}: write ${op} ${form}`);
  requireWords(text, op, options);
  // A measured rate is about a run of the kernel; two rates are points of one kernel.
  return {name: words(text).filter((word) => !word.startsWith("rate=")).join(" "), op, sides, options};
}

/** The sides of an operation, such as 4096x8192; a point has an intensity in their place. */
function sidesOf(text, word, op) {
  const unit = op === "point" ? "FLOP/byte" : "1";
  return word.split(/[x×]/).map((side) => size(text, side, `a side of ${OPERATIONS[op].form}`, unit));
}

/** Name and number of a word such as batch=32. */
function option(text, word, own) {
  const name = word.slice(0, word.indexOf("="));
  if (!Object.hasOwn(own, name) && !COMMON_WORDS.includes(name)) unknownWord(text, name, own);
  return [name, size(text, word.slice(name.length + 1), name, UNITS[name] ?? "1")];
}

function unknownWord(text, name, own) {
  unknown(`word in '${shorten(text)}':`, name, [...Object.keys(own), ...COMMON_WORDS].map((word) => `${word}=`));
}

function requireWords(text, op, options) {
  const missing = Object.keys(OPERATIONS[op].own).find((name) => !Object.hasOwn(options, name));
  if (missing) refuse(`'${shorten(text)}' needs ${missing}=, such as ${op} ${missing}=8192`);
  if (options["kv-heads"] && options.heads % options["kv-heads"]) refuse(`'${shorten(text)}': kv-heads does not divide heads`);
}

/** A number of a kernel: above zero, of plausible size, and whole where it counts something. */
function size(text, amount, name, unit) {
  let value;
  try {
    value = parseQuantity(amount, unit);
  } catch (error) {
    refuse(`'${shorten(text)}': ${name}: ${error.message}`);
  }
  const isMeasured = Object.hasOwn(UNITS, name);
  const isWhole = !isMeasured && unit !== "FLOP/byte";
  if (value > 0 && value <= (isMeasured ? LARGEST_RATE : LARGEST_SIZE) && (Number.isInteger(value) || !isWhole)) return value;
  const kind = isWhole ? "a whole number of at least 1" : "a number of more than 0";
  return refuse(`'${shorten(text)}': ${name} is ${shorten(amount)}, expected ${kind} and of plausible size`);
}

/** One chip: its name before a colon, if it has one, and its roofs with commas. */
function machine(text, defaultName) {
  const place = text.indexOf(":");
  const [peaks, bandwidths] = [[], []];
  for (const written of text.slice(place + 1).split(",").map((one) => one.trim())) {
    const end = written.lastIndexOf(" ");
    const label = end < 0 ? "" : written.slice(0, end);
    const [rate, isPeak] = rateOf(written, written.slice(end + 1));
    (isPeak ? peaks : bandwidths).push({label: label || (isPeak ? "peak" : "memory"), rate});
  }
  requireRoofs(text, "peak", peaks, "bf16 989TFLOP/s");
  requireRoofs(text, "bandwidth", bandwidths, "memory 3.35TB/s");
  return {name: place < 0 ? defaultName : text.slice(0, place).trim(), peaks, bandwidths};
}

function requireRoofs(text, kind, roofs, example) {
  if (!roofs.length) refuse(`'${shorten(text)}' has no ${kind}; add one, such as ${example}`);
  if (new Set(roofs.map(({label}) => label)).size < roofs.length) refuse(`'${shorten(text)}' has two roofs of the same name`);
}

/** A rate and whether it is a peak; its unit says so, and a bare number or one letter after it says nothing. */
function rateOf(written, amount) {
  if (!/^[\d.eE+_-]*[a-zA-Z]?$/.test(amount)) {
    for (const [unit, isPeak] of [["FLOP/s", true], ["byte/s", false]]) {
      let rate;
      try {
        rate = parseQuantity(amount, unit);
      } catch {
        continue;
      }
      if (!(rate > 0 && rate <= LARGEST_RATE)) refuse(`'${shorten(written)}' is no plausible rate`);
      return [rate, isPeak];
    }
  }
  return refuse(`'${shorten(written)}' is no roof; write a name and a rate with its unit, such as bf16 989TFLOP/s`);
}
