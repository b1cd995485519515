// The command line and the Python call that give what the form gives.

import {inner, pairs} from "./link.js";

export function commandLine(spec, fields) {
  const words = pairs(spec, fields).map(([name, value]) => `--${name} ${quoted(value)}`);
  return ["flopbook", spec.id, ...words].join(" ");
}

function quoted(value) {
  return /^[\w.:/+-]+$/.test(value) ? value : `'${value.replaceAll("'", "")}'`;
}

export function pythonCall(spec, fields) {
  const words = pairs(spec, fields).map(([name, value]) => `${inner(name)}=${JSON.stringify(value)}`);
  return `calculate(${[JSON.stringify(spec.id), ...words].join(", ")})`;
}

/** What a program needs before the call. */
export const IMPORT = "from flopbook import calculate";
