// What calculators of ordinary Python refuse and leave out, in the words of the command line; written by hand, held equal by a test.

import {fairly} from "./quantity.js";

const LONGEST = 60;
const MOST_LISTED = 12;
const LEAST_ALIKE = 0.4;
const TENTH = 0.1;

/** Something that a reader can mend. */
export class Refusal extends Error {}

export function refuse(message) {
  throw new Refusal(message);
}

/** The message of what is refused; empty where nothing is. */
export function refusal(compute) {
  try {
    compute();
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  return "";
}

/** A text as it goes into a message: one line of at most 60 letters. */
export function shorten(text) {
  const letters = [...words(text).join(" ")];
  return letters.length <= LONGEST ? letters.join("") : `${letters.slice(0, LONGEST - 3).join("")}...`;
}

/** What stands between spaces. */
export function words(text) {
  return text.split(/\s+/).filter(Boolean);
}

/** A text whose control characters are written out, as Python does. */
export function printable(text) {
  return text.replace(/(?![ \n])[\p{C}\p{Z}]/gu, (letter) => {
    const code = letter.codePointAt(0).toString(16);
    const [mark, length] = code.length < 3 ? ["x", 2] : code.length < 5 ? ["u", 4] : ["U", 8];
    return {"\t": "\\t", "\r": "\\r"}[letter] ?? `\\${mark}${code.padStart(length, "0")}`;
  });
}

/** A number as Python's format `g` writes it with so many digits. */
export function general(value, digits = 6) {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  const near = fairly(value, digits);
  const [mantissa, exponent] = near.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < digits) return trimmed(near.toFixed(digits - 1 - power));
  return `${trimmed(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function trimmed(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Refuse a name that none of the known ones is, and offer the nearest. */
export function unknown(kind, name, known) {
  const names = [...new Set(known)];
  const spellings = new Map(names.map((one) => [one.toLowerCase(), one]));
  const sorted = [...spellings.keys()].sort();
  const begun = sorted.filter((one) => one.startsWith(`${name.toLowerCase()}-`));
  const near = [...new Set([...begun, ...alike(name.toLowerCase(), sorted)])].slice(0, 3);
  refuse(printable(`unknown ${kind} '${shorten(name)}'; ${hint(near.map((one) => spellings.get(one)), names)}`));
}

function hint(near, names) {
  if (near.length) return `nearest: ${near.join(", ")}`;
  return names.length && names.length <= MOST_LISTED ? `one of: ${names.join(", ")}` : "nothing is near it";
}

/** The three names most alike, as Python's `difflib` finds them. */
function alike(name, names) {
  const scored = names.map((one) => [(2 * matches([...one], [...name])) / ([...one].length + [...name].length), one]);
  const near = scored.filter(([score]) => score >= LEAST_ALIKE);
  near.sort(([a, one], [b, other]) => b - a || (one < other ? 1 : -1));
  return near.slice(0, 3).map(([, one]) => one);
}

/** How many letters two words share: those of the longest common piece, and so on to its left and to its right. */
function matches(a, b) {
  let [size, from, to] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < b.length; j++) {
      let length = 0;
      while (i + length < a.length && j + length < b.length && a[i + length] === b[j + length]) length++;
      if (length > size) [size, from, to] = [length, i, j];
    }
  }
  if (!size) return 0;
  return matches(a.slice(0, from), b.slice(0, to)) + size + matches(a.slice(from + size), b.slice(to + size));
}

/** The note on a share of an answer that is left out, with its size at `{size}`; nothing where it is a tenth or less. */
export function omission(name, share, message) {
  if (!(Math.abs(share) > TENTH && Math.abs(share) < Infinity)) return {};
  return {[name]: message.replace("{size}", sizeOf(share))};
}

function sizeOf(share) {
  if (share < 1) return `${share < 0 ? "-" : "+"}${Math.floor(Math.abs(share) * 100 + 0.5)} %`;
  const times = 1 + share;
  return times < 10 ? `${(Math.floor(times * 10 + 0.5) / 10).toFixed(1)} times` : `${Math.floor(times + 0.5).toFixed(0)} times`;
}
