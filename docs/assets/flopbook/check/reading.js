// Reads a statement such as "H100 1,979 TFLOPS", as flopbook/factcheck/reading.py and numbers.py do; a test in the browser holds both equal.
// All words and patterns come from Python (check.json).

import {filled} from "../dom.js";
import {memoriesIn} from "./memories.js";

const PARTS = ";"; // ends a clause
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
  const numbers = numbersOf(plain, words);
  const [named, left] = chipsBeside(plain, words, names, numbers);
  if (!left.length) throw new Unreadable(words, named.length && has(plain, words.DATE) ? "date" : "number");
  const spans = [...named, ...numbers];
  const blank = without(plain, spans);
  const shown = left.slice(0, words.MOST_STATEMENTS);
  if (!named.length) throw withoutChip(plain, words, names, shown.map((number) => statement(blank, words, number, {chips: [], times: 1}, spans)));
  const every = new Set(named.flatMap(({chips}) => chips));
  return shown.map((number) => withOthers(statement(blank, words, number, owner(number, named), spans), [...every]));
}

/** A number with the chips of the text that are not its own. */
function withOthers(one, chips) {
  const others = chips.filter((chip) => !one.chips.includes(chip));
  return {...one, others, readings: one.readings.map((reading) => ({...reading, others}))};
}

/** A text with its numbers and units written the usual way. */
function respelled(text, {SPELLINGS}) {
  return SPELLINGS.reduce((left, [pattern, plain]) => left.replace(new RegExp(pattern, "gi"), plain.replace(/{(.)}/g, "$$$1")), text);
}

/** A name without case, blanks and marks: "TPU v5p" is tpuv5p. */
export function compact(name) {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** All numbers of a text in their order, those with a whole unit and those where it is short. */
function numbersOf(text, words) {
  const numbers = matches(words.NUMBER, text).map((match) => numberOf(match, words)).filter(Boolean).map((one) => lowered(text, one, words));
  const short = matches(words.SHORT, text).filter((match) => !meets(spanOf(match), numbers)).map((match) => shortNumber(match, words)).filter(Boolean);
  return [...numbers, ...short].sort((a, b) => a.start - b.start);
}

const matches = (pattern, text) => [...text.matchAll(new RegExp(pattern, "gi"))];
const spanOf = (match) => ({start: match.index, end: match.index + match[0].length});

/** A flow all in small letters, `3.35 tb/s`, may count bytes as well as bits. */
function lowered(text, number, words) {
  const spelled = text.slice(number.start, number.end);
  const at = spelled.search(new RegExp(`${words.LOWER_FLOW}$`));
  if (at < 0) return number;
  const [match] = matches(words.NUMBER, `${spelled.slice(0, at + 1)}B/s`);
  const byte = match && numberOf(match, words);
  return byte ? {...number, readings: [{...byte, start: number.start, end: number.end}, number]} : number;
}

/** A number whose unit is cut short, with all that it may be. */
function shortNumber(match, words) {
  const [digits, decimals, blank, prefix, bit] = match.slice(1).map((group) => group ?? "");
  const isSmall = prefix !== prefix.toUpperCase();
  if (isSmall && !bit && (blank || !words.SHORT_SMALL.includes(prefix))) return null;
  const spellings = words.SHORT_UNITS[(prefix + bit).toLowerCase()] ?? [];
  const readings = spellings.map((spelling) => made([digits, decimals, "", prefix, "", spelling], spanOf(match), words)).filter(Boolean);
  return bit === "B" || !readings.length ? null : {...readings[0], readings};
}

function numberOf(match, words) {
  return made(match.slice(1).map((group) => group ?? ""), spanOf(match), words);
}

/** A number from the groups of the pattern, for a unit that is known. */
function made([before, decimals, power, prefix, binary, spelling], span, words) {
  // `70B` without more is no memory: the parameters of a model.
  const found = !prefix && /^b$/i.test(spelling) ? null : unitOf(spelling, words);
  if (!found) return null;
  const [kind, size, symbol] = found;
  const thousands = words.PREFIXES[prefix.toLowerCase()];
  const factor = (binary ? 1024 ** Math.floor(thousands.toFixed(0).length / 3) : thousands) * size;
  const digits = before.replaceAll(",", "");
  const value = Number(digits + decimals);
  const scale = factor * 10 ** Number(power.slice(1) || "0");
  const [slack, cut, place] = slackOf(digits, decimals, value);
  return {
    ...span, value: value * scale, slack: slack * scale, cut: cut * scale, place: place * scale, readings: [],
    kind, factor: kind === "price" ? size : factor, symbol: symbolOf(prefix.toLowerCase(), symbol, binary, words), binary: Boolean(binary),
  };
}

function symbolOf(prefix, symbol, binary, words) {
  if (symbol === "transistors") return `${words.SIZES[prefix]}${symbol}`;
  if (symbol === "USD") return symbol;
  return `${words.LETTERS[prefix]}${binary ? "i" : ""}${symbol}`;
}

/** Half of the last place that is written, and the whole of it, within what people round to; then that place itself. */
function slackOf(digits, decimals, value) {
  const zeros = digits.length - digits.replace(/0+$/, "").length;
  const place = decimals ? 10 ** -(decimals.length - 1) : 10 ** zeros;
  const written = (digits + decimals).replace(".", "").replace(/^0+|0+$/g, "");
  const coarsest = written.length < 2 ? COARSEST : COARSEST_ROUND;
  const slack = Math.min(Math.max(place / 2, FINEST * value), coarsest * value);
  return [slack, Math.max(slack, Math.min(place, COARSEST * value)), place];
}

/** What a spelling measures; a lone b is a bit where it is small and a byte where not. */
function unitOf(spelling, words) {
  let text = spelling;
  if (/^b(?!y|i)/i.test(text)) text = (text[0] === "b" ? "bit" : "byte") + text.slice(1);
  const [, kind, size, symbol] = words.UNITS.find(([pattern]) => whole(text, pattern)) ?? [];
  return kind && [kind, size, symbol || text];
}

/** The chips and the numbers outside of their names: a number whose unit is short is in a name that has it, A100-40gb, unless no number is left then. */
function chipsBeside(text, words, names, numbers) {
  const found = parted(text, words, names, numbers, (number) => !number.readings.length);
  if (found[1].length) return found;
  const every = parted(text, words, names, numbers, () => true);
  return every[0].length && every[1].length ? every : found;
}

/** Chips and numbers where those that are kept, and last in their clause, are in no name: A100 80GB has a number inside only where another follows. */
function parted(text, words, names, numbers, isKept) {
  const ends = numbers.filter((one, n) => n + 1 === numbers.length || has(text.slice(one.end, numbers[n + 1].start), words.CLAUSE));
  const taken = ends.filter(isKept);
  // A name inside of a number, as TPU 8t in 4.8T, counts where there is no other.
  const letters = numbers.filter(({readings, end}) => readings.length && /[0-9]/.test(text.slice(end - 2, end - 1)));
  const ways = [() => namedIn(text, words, names, taken, letters), () => namedIn(text, words, names, taken), () => namedIn(text, words, makers(words, names), taken)];
  const named = ways.reduce((chips, way) => (chips.length ? chips : way()), []);
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

/** Names of chips in a text, longest first, in the order in which they stand; none meets what is taken or lies inside of one of `around`. */
function namedIn(text, words, names, taken, around = []) {
  const atoms = [...text.matchAll(new RegExp(words.WORD, "gi"))].map((match) => [match.index, match.index + match[0].length]);
  const found = [];
  for (let length = Math.min(LONGEST_NAME, atoms.length); length > 0; length -= 1) {
    for (let first = 0; first + length <= atoms.length; first += 1) {
      const span = {start: atoms[first][0], end: atoms[first + length - 1][1]};
      const chips = chipsOf(text.slice(span.start, span.end), words, names);
      const isInside = around.some(({start, end}) => start <= span.start && span.end <= end);
      if (!chips.length || isInside || meets(span, taken) || meets(span, found)) continue;
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
function without(text, spans, mark = " ") {
  return spans.reduce((rest, {start, end}) => rest.slice(0, start) + mark.repeat(end - start) + rest.slice(end), text);
}

/** The last chip before a number, else the first behind it. */
function owner(number, named) {
  return named.findLast(({start}) => start < number.start) ?? named[0];
}

function statement(text, words, number, owner, spans) {
  const clause = clauseOf(text, words, number);
  const others = spans.filter((span) => span !== number && span !== owner);
  const memories = memoriesIn(clauseOf(without(text, others, PARTS), words, number), words);
  const made = (one) => ({...stated(clause, words, one, owner), memories});
  return {...made(number), readings: number.readings.map(made)};
}

function stated(clause, words, number, {chips, times}) {
  const {value, slack, cut, place, kind, factor, symbol, binary} = number;
  const field = words.QUANTITIES.find(([pattern, name]) => words.FIELDS[kind].includes(name) && has(clause, pattern))?.[1] ?? "";
  const formats = words.FORMATS.filter(([pattern]) => has(clause, pattern)).map(([, name]) => name);
  const sparsity = either(clause, [words.DENSE, "dense"], [words.SPARSE, "sparse"]);
  const isTold = Boolean(field) || (kind === "rate" && (formats.length > 0 || Boolean(sparsity)));
  return {
    chips, times, value, slack, cut, place, kind, factor, symbol, binary, field, formats, sparsity, readings: [],
    isNamed: isTold || has(clause, words.SHORT_WORDS[kind] ?? "(?!)"),
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
