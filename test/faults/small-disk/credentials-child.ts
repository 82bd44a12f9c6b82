import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { openCredentialStore } from "../../../src/plugin/pairing/credentials.ts";
import { isSvcError } from "../../../src/shared/errors.ts";
import { useSmallDisk } from "./disk.ts";

/** The folder of the credentials is full, and then read-only. Prints what came of each step, as who it ran. */

const disk = useSmallDisk(process.argv[2] ?? "");
const folder = join(disk.folder, "config");
const store = openCredentialStore(folder);
const steps: Record<string, unknown> = { uid: process.getuid?.() };

async function step(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    steps[name] = (await work()) ?? "done";
  } catch (error) {
    if (!isSvcError(error)) throw error;
    steps[name] = { code: error.code, field: error.field, message: error.message, hint: error.hint };
  }
}

const write = (apiKey: string) =>
  store.write({ baseUrl: "http://127.0.0.1:1", apiKey, apiKeyId: "1", pairedAt: new Date().toISOString() });
const read = async () => (await store.read())?.apiKey ?? "nothing";

await mkdir(folder);
disk.fill();
await step("first write, full", () => write("never"));
await step("read after it", read);
disk.free();
await step("write", () => write("one"));
disk.fill();
for (let turn = 0; turn < 5; turn += 1) await step("write, full", () => write("two"));
await step("read, full", read);
await step("files, full", () => readdir(folder));
disk.free();
await step("write, freed", () => write("three"));
await step("files, freed", () => readdir(folder));
disk.setReadOnly(true);
await step("write, read-only", () => write("four"));
await step("clear, read-only", () => store.clear());
await step("read, read-only", read);
disk.setReadOnly(false);
await step("write, writable again", () => write("five"));
await step("read at last", read);
console.log(JSON.stringify(steps));
