// Plans beside the page, so that typing never waits for a search. Only the search that is asked for is loaded.

import {record} from "./asking.js";

const SEARCHES = {
  train: async () => (await import("./answering.js")).trained,
  serve: async () => (await import("./serving.js")).served,
};

addEventListener("message", async ({data: {id, kind, asked}}) => {
  try {
    const [known, answered] = await Promise.all([record(), SEARCHES[kind]()]);
    postMessage({id, answer: answered(known, asked)});
  } catch (error) {
    postMessage({id, problem: error.message});
  }
});
