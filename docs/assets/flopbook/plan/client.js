// Asks the worker that plans, "train" or "serve". One question is under way at a time; of those of a kind that come meanwhile the
// last is asked.

let worker = null;
let running = null;
const waiting = new Map();
let count = 0;

function start() {
  worker = new Worker(new URL("./worker.js", import.meta.url), {type: "module"});
  worker.addEventListener("message", ({data: {id, answer, problem}}) => {
    if (id !== running?.id) return;
    const {resolve, reject} = running;
    running = null;
    if (problem) reject(new Error(problem));
    else resolve(answer);
    next();
  });
  worker.addEventListener("error", () => {
    running?.reject(new Error("the planner could not be loaded"));
    worker = running = null;
    next();
  });
}

function next() {
  const [kind] = waiting.keys();
  if (running || !kind) return;
  running = waiting.get(kind);
  waiting.delete(kind);
  if (!worker) start();
  worker.postMessage({id: running.id, kind, asked: running.asked});
}

/** The plan for a question; null where a later question of its kind came before it was begun. */
export function planned(kind, asked) {
  waiting.get(kind)?.resolve(null);
  return new Promise((resolve, reject) => {
    waiting.set(kind, {id: ++count, asked, resolve, reject});
    next();
  });
}
