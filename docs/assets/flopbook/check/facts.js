// What is on file of chips, from the record that flopbook/factcheck/facts.py writes.

const FACT = ["field", "value", "dtype", "engine", "sparsity", "direction", "aggregate", "name", "tier", "type", "main", "error", "source", "note"];

/** What is on file of an id, from the compact record. */
export function lookIn({words, subjects}) {
  const kept = new Map();
  const kind = Object.fromEntries(Object.entries(words.FIELDS).flatMap(([name, fields]) => fields.map((field) => [field, name])));
  const fact = (values) => {
    const made = Object.fromEntries(FACT.map((name, n) => [name, values[n]]));
    return {...made, kind: kind[made.field]};
  };
  return (id) => {
    if (!kept.has(id)) {
      const [name, form, facts, family, within, parts] = subjects[id];
      kept.set(id, {id, name, kind: form, facts: facts.map(fact), family, within, parts});
    }
    return kept.get(id);
  };
}
