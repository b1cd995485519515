// Types of memory, as flopbook/factcheck/memories.py has them; a test in the browser holds both equal.

/** The types that a text names, as it writes them. */
export function memoriesIn(text, {MEMORY}) {
  return [...text.matchAll(new RegExp(MEMORY, "gi"))].map(([name]) => name);
}

/** Whether a type on file is one of those that are named; where either is open it may be. */
export function isType(named, filed, words) {
  const own = memoriesIn(filed.toLowerCase(), words);
  return !named.length || !own.length || named.some((name) => own.some((other) => isOne(name.toLowerCase(), other)));
}

/** Whether two names are of one type; a name without a generation, HBM, is that of all. */
function isOne(name, other) {
  return /^[a-z]+$/.test(name) ? other.includes(name) : name === other;
}
