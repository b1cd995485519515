// What is typed into a form of the planner: amounts with their units, and what is wrong with them.

import {isBare, parseQuantity} from "../quantity.js";
import {MOST_CHIPS} from "./asking.js";

/** Something typed that cannot be asked; `field` is where. */
export class Refusal extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/** What is typed or chosen; nothing where the form does not ask. */
export const text = (form, name, other = "") => form.elements[name]?.value.trim() || other;

/** An amount in SI units; null where nothing is typed. Throws a Refusal. */
export function amount(form, name, unit, {least = 1, most = Infinity, whole = true} = {}) {
  const typed = text(form, name).replaceAll(",", "");
  if (!typed) return null;
  let value;
  try {
    value = parseQuantity(typed, unit);
  } catch (error) {
    throw new Refusal(name, `${labelOf(form, name)}: ${error.message}.`);
  }
  if ((whole && !Number.isInteger(value)) || value < least || value > most) {
    const bound = Number.isFinite(most) ? ` from ${least.toLocaleString("en")} to ${most.toLocaleString("en")}` : ` of at least ${least}`;
    throw new Refusal(name, `${labelOf(form, name)}: type a ${whole ? "whole " : ""}number${bound}.`);
  }
  return value;
}

/** The number of chips. Throws a Refusal. */
export function chipsOf(form) {
  const chips = amount(form, "chips", "1", {most: MOST_CHIPS});
  if (chips === null) throw new Refusal("chips", "Type a number of chips.");
  return chips;
}

/** A time that is a limit, with its unit; infinite where none is typed. Throws a Refusal. */
export function limit(form, name) {
  const typed = text(form, name);
  if (typed && isBare(typed)) throw new Refusal(name, `${labelOf(form, name)}: type a unit too, such as ${typed}ms.`);
  const seconds = amount(form, name, "s", {least: 0, whole: false});
  return seconds || Infinity;
}

/** The chips that are compared: one or two. */
export function chosen(form) {
  return [...new Set([text(form, "chip"), text(form, "other")].filter(Boolean))];
}

/** What a field is called. */
export function labelOf(form, name) {
  return form.elements[name].labels[0].querySelector("span").textContent.trim();
}

/** What is chosen in a field, or the option of this value, as people read it. */
export function nameOf(field, value = field.value) {
  return [...field.options].find((option) => option.value === value).textContent.trim();
}
