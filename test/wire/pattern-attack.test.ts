import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

/** Beside the tests, since a pattern that never ends would stop them too: it shows as the last one reported. */
test("every generated pattern that may be run ends on the texts that attack it", { timeout: 60_000 }, async () => {
  const worker = new Worker(new URL("attack-patterns.ts", import.meta.url));
  let running = "none";
  try {
    for await (const [message] of on(worker, "message", { signal: AbortSignal.timeout(50_000) })) {
      if ("source" in message) running = message.source;
      if (!("admitted" in message)) continue;
      expect(message.admitted).toBeGreaterThan(800);
      running = "none";
      break;
    }
  } catch (error) {
    expect(error, running).toBeUndefined();
  } finally {
    await worker.terminate();
  }
  expect(running).toBe("none");
});
