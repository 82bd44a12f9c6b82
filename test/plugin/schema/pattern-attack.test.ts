import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

/** Beside the tests, since a pattern that never ends would stop them too: it shows as the last one reported. */
test("every generated pattern ends on the texts that attack it, by itself or when its time is up", {
  timeout: 60_000,
}, async () => {
  const worker = new Worker(new URL("attack-patterns.ts", import.meta.url));
  let running = "none";
  try {
    for await (const [message] of on(worker, "message", { signal: AbortSignal.timeout(50_000) })) {
      if ("source" in message) running = message.source;
      if (!("quick" in message)) continue;
      expect(message.quick).toBeGreaterThan(100);
      expect(message.limited).toBeGreaterThan(1_000);
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
