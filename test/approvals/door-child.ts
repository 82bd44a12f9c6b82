import type { Answer, Host, ModelCall } from "./door.ts";
import { findDoor } from "./find-door.ts";

/** A process that opens a door, for one turn of a conversation; prints where it stands, and stops for good at `at`. */

interface Task {
  readonly host: Host;
  readonly at?: string;
  readonly calls?: readonly ModelCall[];
  readonly saved?: string;
  readonly answers?: readonly Answer[];
}

const [name = "", text = "{}"] = process.argv.slice(2);
const { host, at, calls = [], saved, answers = [] } = JSON.parse(text) as Task;
const door = await (await findDoor(name)).open({
  ...host,
  onEvent: ({ type }) => {
    if (type !== at) return;
    console.log(`at ${at}`);
    // Nothing after this line happens: the host never hears of the result, or the service never of the call.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  },
});
console.log(JSON.stringify(saved === undefined ? await door.start(calls) : await door.resume(saved, answers)));
await door.close();
