// Parts of the card of a layout: numbers that open what they are made of, prices, links.

import {el} from "../dom.js";
import {grouped, three} from "./words.js";

const root = new URL("../../../", import.meta.url);

/** A sum of money with two digits. */
export function money(usd) {
  const two = Number(usd.toPrecision(2));
  return two >= 1e6 ? `${grouped(two / 1e6)} million USD` : `${two.toLocaleString("en", {maximumSignificantDigits: 2})} USD`;
}

/** Price of a chip in USD/s, and the words that say whose it is; null where there is none. */
export function priceOf({answer, price}) {
  if (price !== null) return {rate: price, words: "the price that you typed", listed: false};
  return answer.price ? {rate: answer.price.usd_per_s, words: answer.price.note, listed: true} : null;
}

/** The price of a chip-hour as a sum says it. */
export const hourly = ({rate}) => `${Number((3600 * rate).toPrecision(4))} USD/h`;

/** The same as a sentence ends with it: a reader who pays another price has to know this one. */
export const priced = (price) => `at ${hourly(price)}${price.listed ? ", the lowest list price" : ""}`;

/** A number of a card; it opens what is inside. */
export function number(label, value, inside) {
  return el("details", {class: "fb-plan-number"}, el("summary", {}, el("span", {}, label), " ", el("strong", {}, value)), ...inside);
}

/** The band of a prediction; it opens what the band holds. */
export function bandNumber(predicted, range, factor) {
  return number("80 % band", range, [
    el("p", {}, `The ${predicted} divided and multiplied by ${factor.toPrecision(3)}: four of five measured runs that the fit had not seen came within this factor of their prediction. `, link("measured/", "Measured against computed"), "."),
  ]);
}

/** A cost, which `told` gives with its sum for a price; without a price, how to name one. */
export function costNumber(price, told) {
  if (!price) return el("p", {class: "fb-fine"}, "Cost: no list price is on file; type one.");
  const {value, sum} = told(price);
  return number("Cost", value, [el("p", {}, `${sum}; ${price.words}.`)]);
}

/** A link to a page of the site. */
export function link(target, words) {
  return el("a", {href: new URL(target, root)}, words);
}

/** Parts with their size and share, the largest first; what is nothing is left out. */
export function bars(parts, unit, whole, words) {
  const listed = Object.entries(parts).filter(([, size]) => size > 1e-4 * whole).sort((a, b) => b[1] - a[1]);
  return el("ul", {class: "fb-plan-parts"}, ...listed.map(([name, size]) => el("li", {},
    el("span", {}, words[name] ?? name), el("span", {class: "fb-n"}, three(size, unit)),
    el("span", {class: "fb-plan-bar", "aria-hidden": "true", style: `inline-size: ${(100 * size / whole).toFixed(1)}%`}))));
}
