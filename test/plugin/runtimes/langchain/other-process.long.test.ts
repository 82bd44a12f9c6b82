import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder } from "../../calls/open-test-session.ts";
import { ADAPTERS } from "./adapters.ts";
import { readTitles } from "./agent-kit.ts";

/** Each answer is taken by another process, and nobody was told to keep state: neither a state folder nor a store. */

let service: TestService;
let file: string;
beforeEach(async () => {
  service = closeLater(await startTestService());
  file = join(await makeFolder(), "checkpoints");
});
afterEach(closeAll);

const CHILD = fileURLToPath(new URL("./answer-child.ts", import.meta.url));

interface Served {
  readonly asked: readonly { id: string; interruptId: string; title: string }[];
  readonly statuses: readonly string[];
  readonly texts: readonly string[];
  /** What the process warned of. */
  readonly warnings: string;
}

/** Has one message served by a process of its own. */
async function serve(adapter: string, answer: unknown): Promise<Served> {
  const args = [CHILD, adapter, service.url, service.apiKey, file, answer === undefined ? "" : JSON.stringify(answer)];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  return { ...(JSON.parse(stdout) as Omit<Served, "warnings">), warnings: stderr };
}

/** The first open question answered with yes, in the ways interfaces do it. */
const WAYS: readonly (readonly [string, (asked: Served["asked"]) => unknown])[] = [
  ["plainly", () => ({ decisions: [{ type: "approve" }] })],
  ["by the question's id", ([first]) => ({ [String(first?.id)]: { type: "approve" } })],
  ["by the interrupt's id", ([first]) => ({ [String(first?.interruptId)]: { decisions: [{ type: "approve" }] } })],
];

const SERIAL = ADAPTERS.filter(({ asks }) => asks === "serial").map(({ name }) => name);

describe.each(SERIAL)("%s", (adapter) => {
  it.each(WAYS)("sends each of two approved writes once, answered %s", async (way, answer) => {
    const first = await serve(adapter, undefined);
    const second = await serve(adapter, answer(first.asked));
    expect(second.asked.map(({ title }) => title)).toEqual(["second"]);
    expect(await readTitles(service)).toEqual(["first"]);
    // The same plain words count once in a task: an interface without ids sends an edit that changes nothing.
    const args = { title: "second", body: "text" };
    const edit = { decisions: [{ type: "edit", editedAction: { name: "notes_create_page", args } }] };
    const third = await serve(adapter, way === "plainly" ? edit : answer(second.asked));
    expect(await readTitles(service)).toEqual(["first", "second"]);
    expect(third.asked).toEqual([]);
    expect(third.statuses).toEqual(["succeeded", "succeeded"]);
    expect(third.texts[0]).toContain("first.md");
  });
});
