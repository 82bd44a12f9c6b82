import { expect, test } from "vitest";
import { z } from "zod";
import { checkOutcome } from "../kit/fault-lab.ts";
import { runOnSmallDisk } from "./small-disk.ts";

const reportSchema = z.looseObject({
  calls: z.array(z.object({ text: z.string(), outcome: z.any(), effects: z.number() })),
  unsent: z.string(),
});

test("a full disk under the plugin: nothing is sent that cannot be remembered, and nothing is forgotten", async () => {
  const report = reportSchema.parse(await runOnSmallDisk(new URL("state-child.ts", import.meta.url), "4m"));
  const { calls, unsent } = report;
  for (const { text, outcome, effects } of calls) checkOutcome(outcome, effects, text);
  const of = (start: string) => calls.filter(({ text }) => text.startsWith(start)).map(({ outcome }) => outcome);
  expect(of("before")).toMatchObject([{ status: "succeeded" }]);
  expect(of("full").at(-1)).toMatchObject({
    status: "failed",
    code: "internal",
    hint: expect.stringContaining("disk"),
  });
  expect(report.read).toMatchObject({ status: "succeeded", notes: [expect.stringContaining("could not be stored")] });
  expect(of("freed")).toMatchObject([{ status: "succeeded" }]);
  // Not sent, then sent without an answer, then asked for by another session: it acted once.
  expect(of(unsent).map(({ status }) => status)).toEqual(["failed", "unknown", "unknown"]);
  expect(report.leftovers).toEqual([]);
  const unwritable = { code: "invalid_config", field: "stateDir", hint: expect.stringContaining("space") };
  // What was written before can be read.
  expect(report.whileFull).toBe("opened");
  expect(report.whileReadOnly).toMatchObject(unwritable);
}, 60_000);
