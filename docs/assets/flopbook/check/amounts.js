// A value of an answer in words, as flopbook/factcheck/amounts.py writes it; a test in the browser holds both equal.

import {formatQuantity} from "../quantity.js";

const TINY = 0.01; // of the unit of a statement: one chip beside a pod
const BINARY = {MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40};
const SAME_COUNT = 0.001;
const PLAIN_UNITS = {"FLOP/s": "FLOP/s", "OP/s": "OP/s", "B/s": "byte/s", B: "byte", W: "W"};

/** A value in the unit of a statement, or in its own where that would be tiny. */
export function amount({symbol, factor}, value) {
  const plain = PLAIN_UNITS[symbol.slice(1)];
  if (plain && value > 0 && value < TINY * factor) return formatQuantity(value, plain);
  return `${formatQuantity(value / factor, "1")} ${symbol}`;
}

/** 96 GB of a text beside the 96 GiB of a source: nobody prints 103.1 GB. */
export function asPrinted(statement, value) {
  const {symbol, factor, value: stated} = statement;
  const count = value / (BINARY[symbol] ?? Infinity);
  if (!(Math.abs(count - stated / factor) <= SAME_COUNT * count)) return amount(statement, value);
  return amount(statement, count * factor).replace(symbol, `${symbol[0]}i${symbol.slice(1)}`);
}

/** A capacity or a rate to the digit, in decimal units. */
export function exact({value, kind}) {
  return formatQuantity(value, {bytes: "byte", flow: "byte/s"}[kind]);
}
