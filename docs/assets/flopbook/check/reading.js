// Reads a statement such as "H100 1,979 TFLOPS", as flopbook/factcheck/reading.py does; a test in the browser holds both equal.
// All words and patterns come from Python (check.json).

import {filled} from "../dom.js";

const LONGEST_NAME = 8;
const [FINEST, COARSEST, COARSEST_ROUND] = [0.0005, 0.02, 0.05];

/** A text in which no chip or no number can be found; `reason` is a key of the table PROBLEMS. */
export class Unreadable extends Error {
  constructor(words, reason, said = {}, statements = []) {
    super(filled(words.PROBLEMS[reason], said));
    this.reason = reason;
    this.statements = statements; // numbers of no chip
  }
}

const has = (text, pattern) => new RegExp(pattern, "i").test(text);
const whole = (text, pattern) => new RegExp(`^(?:${pattern})$`, "i").test(text);

/** Each number of a text with its chip; `names` has ids of chips by compact names. */
export function read(text, words, names) {
  if (!text.trim()) throw new Unreadable(words, "empty");
  if ([...text].length > words.LONGEST) throw new Unreadable(words, "long");
  const amounts = respelled(text, words).replace(new RegExp(words.MONEY, "gi"), "$1$2 USD");
  const plain = amounts.replace(new RegExp(words.BETWEEN, "gi"), "$2$1 ").replace(new RegExp(words.TIMES, "gi"), "$1  ");
  const numbers = [...plain.matchAll(new RegExp(words.NUMBER, "gi"))].map((match) => numberOf(match, words)).filter(Boolean);
  const [named, left] = chipsBeside(plain, words, names, numbers);
  if (!left.length) throw new Unreadable(words, named.length && has(plain, words.DATE) ? "date" : "number");
  const blank = without(plain, [...named, ...numbers]);
  const shown = left.slice(0, words.MOST_STATEMENTS);
  if (!named.length) throw withoutChip(plain, words, names, shown.map((number) => statement(blank, words, number, {chips: [], times: 1})));
  return shown.map((number) => statement(blank, words, number, owner(number, named)));
}

/** A text with its numbers and units written the usual way. */
function respelled(text, {SPELLINGS}) {
  return SPELLINGS.reduce((left, [pattern, plain]) => left.replace(new RegExp(pattern, "gi"), plain.replace(/{(.)}/g, "$$$1")), text);
}

/** A name without case, blanks and marks: "TPU v5p" is tpuv5p. */
export function compact(name) {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function numberOf(match, words) {
  const [before, decimals, power, prefix, binary, spelling] = match.slice(1).map((group) => group ?? "");
  const found = unitOf(spelling, words);
  if (!found) return null;
  const [kind, size, symbol] = found;
  const thousands = words.PREFIXES[prefix.toLowerCase()];
  const factor = (binary ? 1024 ** Math.floor(thousands.toFixed(0).length / 3) : thousands) * size;
  const digits = before.replaceAll(",", "");
  const value = Number(digits + decimals);
  const scale = factor * 10 ** Number(power.slice(1) || "0");
  const [slack, cut] = slackOf(digits, decimals, value);
  return {
    start: match.index, end: match.index + match[0].length, value: value * scale, slack: slack * scale, cut: cut * scale,
    kind, factor: kind === "price" ? size : factor, symbol: symbolOf(prefix.toLowerCase(), symbol, binary, words), binary: Boolean(binary),
  };
}

function symbolOf(prefix, symbol, binary, words) {
  if (symbol === "transistors") return `${words.SIZES[prefix]}${symbol}`;
  if (symbol === "USD") return symbol;
  return `${words.LETTERS[prefix]}${binary ? "i" : ""}${symbol}`;
}

/** Half of the last place that is written, and the whole of it, within what people round to. */
function slackOf(digits, decimals, value) {
  const zeros = digits.length - digits.replace(/0+$/, "").length;
  const place = decimals ? 10 ** -(decimals.length - 1) : 10 ** zeros;
  const written = (digits + decimals).replace(".", "").replace(/^0+|0+$/g, "");
  const coarsest = written.length < 2 ? COARSEST : COARSEST_ROUND;
  const slack = Math.min(Math.max(place / 2, FINEST * value), coarsest * value);
  return [slack, Math.max(slack, Math.min(place, COARSEST * value))];
}

/** What a spelling measures; a lone b is a bit where it is small and a byte where not. */
function unitOf(spelling, words) {
  let text = spelling;
  if (/^b(?!y|i)/i.test(text)) text = (text[0] === "b" ? "bit" : "byte") + text.slice(1);
  const [, kind, size, symbol] = words.UNITS.find(([pattern]) => whole(text, pattern)) ?? [];
  return kind && [kind, size, symbol || text];
}

/** The chips and the numbers outside of their names: A100 80GB has a number inside only where another follows in its clause. */
function chipsBeside(text, words, names, numbers) {
  const kept = numbers.filter((one, n) => n + 1 === numbers.length || has(text.slice(one.end, numbers[n + 1].start), words.CLAUSE));
  const plain = namedIn(text, words, names, kept);
  const named = plain.length ? plain : namedIn(text, words, makers(words, names), kept);
  return [named, numbers.filter((number) => !meets(number, named))];
}

/** Names of makers, which stand for their chips where no chip is named. */
function makers({BY}, names) {
  return Object.fromEntries(Object.entries(names).filter(([name]) => name.startsWith(BY)).map(([name, ids]) => [name.slice(BY.length), ids]));
}

/** What is wrong with a text that names no chip, with the names that a slip may have meant. */
function withoutChip(text, words, names, statements) {
  const single = [...text.matchAll(new RegExp(words.WORD, "gi"))].map(([word]) => word.toLowerCase());
  const said = [...single, ...single.slice(1).map((after, n) => single[n] + after)];
  const near = new Map(); // of several names of a chip the shortest
  for (const name of Object.keys(names).sort((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    const ids = names[name].join();
    if (name.length >= words.SHORTEST_NEAR && !near.has(ids) && said.some((one) => isNear(one, name, words))) near.set(ids, name);
  }
  if (!near.size) return new Unreadable(words, "chip", {}, statements);
  return new Unreadable(words, "near", {names: [...near.values()].slice(0, words.MOST_NEAR).join(" or ")});
}

/** Whether what was said is a name but for a slip of the finger, or the end of one. */
function isNear(said, name, words) {
  if (said.length >= words.SHORTEST_NEAR && /^\d+$/.test(said) && name.endsWith(said)) return true;
  if (Math.abs(said.length - name.length) > 1 || said === name) return false;
  let shared = 0;
  while (shared < Math.min(said.length, name.length) && said[shared] === name[shared]) shared += 1;
  const [one, other] = [said.slice(shared), name.slice(shared)];
  const isTurned = one.slice(0, 2) === [...other.slice(0, 2)].reverse().join("") && one.slice(2) === other.slice(2);
  return isTurned || one.slice(1) === other.slice(1) || one.slice(1) === other || one === other.slice(1);
}

/** Names of chips in a text, longest first, in the order in which they stand. */
function namedIn(text, words, names, taken) {
  const atoms = [...text.matchAll(new RegExp(words.WORD, "gi"))].map((match) => [match.index, match.index + match[0].length]);
  const found = [];
  for (let length = Math.min(LONGEST_NAME, atoms.length); length > 0; length -= 1) {
    for (let first = 0; first + length <= atoms.length; first += 1) {
      const span = {start: atoms[first][0], end: atoms[first + length - 1][1]};
      const chips = chipsOf(text.slice(span.start, span.end), words, names);
      if (!chips.length || meets(span, taken) || meets(span, found)) continue;
      const before = first ? text.slice(...atoms[first - 1]) : "";
      found.push({...span, chips, times: timesOf(before, words)});
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

/** How many, from the word before a name; 1 where that is no count. */
function timesOf(word, {COUNTS}) {
  if (Object.hasOwn(COUNTS, word.toLowerCase())) return COUNTS[word.toLowerCase()];
  return /^[1-9][0-9]{0,5}$/.test(word) ? Number(word) : 1;
}

function chipsOf(name, words, names) {
  if (has(name, words.OUTSIDE)) return [];
  const short = compact(name);
  if (Object.hasOwn(names, short)) return names[short];
  const single = short.slice(0, -1);
  return short.endsWith("s") && Object.hasOwn(names, single) ? names[single] : [];
}

function meets(span, others) {
  return others.some(({start, end}) => start < span.end && span.start < end);
}

/** A text with blanks where names and numbers stand: what is left are the conditions. */
function without(text, spans) {
  return spans.reduce((rest, {start, end}) => rest.slice(0, start) + " ".repeat(end - start) + rest.slice(end), text);
}

/** The last chip before a number, else the first behind it. */
function owner(number, named) {
  return named.findLast(({start}) => start < number.start) ?? named[0];
}

function statement(text, words, number, {chips, times}) {
  const clause = clauseOf(text, words, number);
  const {value, slack, cut, kind, factor, symbol, binary} = number;
  return {
    chips, times, value, slack, cut, kind, factor, symbol, binary,
    field: words.QUANTITIES.find(([pattern, field]) => words.FIELDS[kind].includes(field) && has(clause, pattern))?.[1] ?? "",
    formats: words.FORMATS.filter(([pattern]) => has(clause, pattern)).map(([, name]) => name),
    sparsity: either(clause, [words.DENSE, "dense"], [words.SPARSE, "sparse"]),
    direction: either(clause, [words.ONE, "one-way"], [words.BOTH, "both"]),
    scope: either(clause, [words.PER_LINK, "link"], [words.PER_CHIP, "chip"], [words.PER_NODE, "node"]),
    vector: has(clause, words.VECTOR),
    parts: [...clause.matchAll(new RegExp(words.WORD, "gi"))].map(([word]) => word.toLowerCase()),
  };
}

/** The part of a text between separators in which a number stands. */
function clauseOf(text, words, number) {
  let [from, to] = [0, text.length];
  for (const match of text.matchAll(new RegExp(words.CLAUSE, "gi"))) {
    const end = match.index + match[0].length;
    if (end <= number.start) from = Math.max(from, end);
    else if (match.index >= number.end) to = Math.min(to, match.index);
  }
  return text.slice(from, to);
}

function either(clause, ...choices) {
  return choices.find(([pattern]) => has(clause, pattern))?.[1] ?? "";
}
