// Values of chips and models as scripts/website/pages/packing.py writes them: gives each value its record with its source back.

const NAMES = ["id", "name", "aliases", "from"];

export function unpacked(lent) {
  return Object.fromEntries(Object.entries(lent).map(([kind, entries]) => [kind, entries.map(whole)]));
}

/** Adds what `rest`, unpacked, knows of the entries that came by name alone. */
export function fill(lent, rest) {
  for (const [kind, entries] of Object.entries(rest)) {
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    for (const entry of lent[kind]) Object.assign(entry, byId.get(entry.id));
  }
}

/** Whether an entry came by name alone. */
export function isBare(entry) {
  return Object.keys(entry).every((name) => NAMES.includes(name));
}

function whole({from, ...entry}) {
  const fields = Object.entries(entry).map(([name, value]) => [name, NAMES.includes(name) ? value : record(value, from)]);
  return Object.fromEntries(fields);
}

function record(value, source) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return {value, source};
  if ("value" in value) return "source" in value ? value : {...value, source};
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, record(one, source)]));
}
