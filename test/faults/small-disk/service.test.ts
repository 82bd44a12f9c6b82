import { expect, test } from "vitest";
import { z } from "zod";
import { checkOutcome } from "../kit/fault-lab.ts";
import { runOnSmallDisk } from "./small-disk.ts";

const reportSchema = z.object({
  calls: z.array(z.object({ text: z.string(), outcome: z.any(), effects: z.number() })),
  effects: z.number(),
  recorded: z.record(z.string(), z.number()),
});

test("a full disk under the service: what is answered is what happened, and it goes on by itself", async () => {
  const { calls, effects, recorded } = reportSchema.parse(
    await runOnSmallDisk(new URL("service-child.ts", import.meta.url), "3m"),
  );
  for (const { text, outcome, effects: done } of calls) {
    checkOutcome(outcome, done, text);
    // A disk that is full for the service is a reason it can name; whatever the provider did is still told.
    if (!text.startsWith("full")) expect(outcome.status, text).toBe("succeeded");
    else if (outcome.status === "failed") {
      expect(outcome.code, text).toMatch(/^(?:database_unavailable|provider_unavailable|file_store_unavailable)$/);
    }
  }
  expect(calls.some(({ outcome }) => outcome.status === "failed")).toBe(true);
  expect(recorded).toEqual({ succeeded: effects });
}, 60_000);
