// Asks the worker that plans. One question is under way at a time; of those that come meanwhile the last is asked.

let worker = null;
let running = null;
let waiting = null;
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
  if (running || !waiting) return;
  running = waiting;
  waiting = null;
  if (!worker) start();
  worker.postMessage({id: running.id, asked: running.asked});
}

/** The plan for a question; null where a later question came before it was begun. */
export function planned(asked) {
  waiting?.resolve(null);
  return new Promise((resolve, reject) => {
    waiting = {id: ++count, asked, resolve, reject};
    next();
  });
}
