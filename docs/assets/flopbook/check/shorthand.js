// Finds what a number whose unit is cut short is of, as flopbook/factcheck/shorthand.py does; a test in the browser holds both equal.

import {formatQuantity} from "../quantity.js";
import {Unreadable} from "./reading.js";

const NETWORK = "scaleout_bandwidth"; // whose rates are written without a unit in bits: 400G

/** A number with the unit that it is short for, if that is plain; `sought` are the searches of a judge. */
export function meant(statement, words, look, sought) {
  if (!statement.readings.length) return statement;
  let left = statement.readings.map(usual);
  if (left.length === 1) return alone(left[0], words);
  const tests = [
    (one) => values(one, look, one.field).some((value) => sought.isClose(one, value)),
    (one) => values(one, look).some((value) => sought.isClose(one, value)),
    (one) => one.isNamed,
    (one) => one.chips.some((id) => sought.isElsewhere(one, look(id))),
    (one) => values(one, look).some((value) => value < words.SHORT_NEAR * one.value && one.value < words.SHORT_NEAR * value),
  ];
  for (const test of tests) {
    const passed = left.filter(test);
    if (passed.length) left = passed;
    if (left.length === 1) return left[0];
  }
  const names = left.map(inWords);
  throw new Unreadable(words, "short", {stated: letter(statement), readings: `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`});
}

/** The number as an answer writes it: 989 TFLOP/s. */
export function inWords({value, factor, symbol}) {
  return `${formatQuantity(value / factor, "1")} ${symbol}`;
}

/** A reading; of a network in bits. */
function usual(one) {
  if (one.field !== NETWORK || !one.symbol.endsWith("B/s")) return one;
  const {value, slack, cut, place, factor, symbol} = one;
  return {...one, value: value / 8, slack: slack / 8, cut: cut / 8, place: place / 8, factor: factor / 8, symbol: symbol.replace("B/s", "bit/s")};
}

/** The only reading; thousands are dollars only where the text speaks of money. */
function alone(reading, words) {
  if (reading.kind === "price" && !reading.isNamed) throw new Unreadable(words, "number");
  return reading;
}

/** What is on file of the chips in the kind of a number, for one and for as many as it says; with a field only the values of that one. */
function values({chips, kind, times}, look, field = "") {
  const facts = chips.flatMap((id) => look(id).facts).filter((fact) => fact.kind === kind && ["", fact.field].includes(field));
  return facts.flatMap(({value}) => [value, value * times]);
}

/** The number with the letter alone: 700T. */
function letter({value, factor, symbol}) {
  return `${formatQuantity(value / factor, "1")}${symbol[0]}`;
}
