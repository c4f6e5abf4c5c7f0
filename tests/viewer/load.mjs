// SPDX-License-Identifier: Apache-2.0
// load.mjs FILE...: what the engine of Chromium's Performance panel makes of
// traces, as JSON: of each, names of processes, and of threads with their
// slices ([name, begin, duration] in microseconds).
import fs from "node:fs";

globalThis.DOMRect = class {};
globalThis.window = globalThis;
const { Processor } = await import("@paulirish/trace_engine");

async function load(path) {
  const engine = Processor.TraceProcessor.createWithAllHandlers();
  await engine.parse(JSON.parse(fs.readFileSync(path)).traceEvents, {});
  const { Meta, Renderer } = engine.data;
  const out = { processes: {}, threads: {} };
  for (const [pid, e] of Meta.processNames)
    out.processes[pid] = e.args.name;
  for (const [pid, process] of Renderer.processes)
    for (const [tid, thread] of process.threads)
      out.threads[`${pid}/${tid}`] = {
        name: thread.name,
        depth: thread.tree?.maxDepth ?? 0,
        slices: thread.entries.map(e => [e.name, e.ts, e.dur]),
      };
  return out;
}

const all = [];
for (const path of process.argv.slice(2))
  all.push(await load(path));
console.log(JSON.stringify(all));
