import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { choose } from "./kit/fault-form.ts";
import { openFaultSession } from "./kit/fault-lab.ts";
import { FAULT_PLACES } from "./kit/fault-places.ts";
import { openFaultProxy } from "./kit/fault-proxy.ts";

/**
 * A call is given up by its caller wherever it stands, also while nothing comes from the other side any more. How long
 * the end takes is reported and not tested; that nothing is waited for is: the time of a request is an hour here.
 */

const HOUR_MS = 60 * 60 * 1_000;
const ROUNDS = choose({ short: 1, long: 20 });
const took: number[] = [];
let service: ProbeService;

beforeAll(async () => {
  service = await startProbeService();
});
afterAll(async () => {
  await service.close();
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))]?.toFixed(1);
  console.log(`${took.length} aborts: median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`);
});

const WAYS = [
  ["probe_echo", "when_known"],
  ["probe_write_text", "when_known"],
  ["probe_write_text", "off"],
] as const;

test.each(WAYS)(
  "%s (keys %s) ends at once when it is given up, at every place",
  async (toolName, idempotencyKeys) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const place of FAULT_PLACES) {
        const proxy = await openFaultProxy(service.url);
        const settings = { timeoutMs: HOUR_MS, idempotencyKeys } as const;
        const { session, close } = await openFaultSession({ url: proxy.url, apiKey: service.apiKey }, settings);
        const marker = randomUUID();
        const call = { callId: marker, toolName, arguments: { text: marker } };
        await session.catalog.find(toolName);
        const stop = new AbortController();
        let abortedAt = 0;
        proxy.arm({
          place,
          kind: async () => {
            abortedAt = performance.now();
            stop.abort();
            await new Promise(() => {});
          },
          request: /^POST /,
        });
        const error: unknown = await session.call({ ...call, signal: stop.signal }).catch((thrown: unknown) => thrown);
        // What has come to its end before may be told: the abort was too late.
        if (error instanceof Error) {
          took.push(performance.now() - abortedAt);
          expect(error.name, place).toBe("AbortError");
        } else expect(error, place).toMatchObject({ status: "succeeded" });
        const count = () => service.probe.calls.filter(({ args }) => args.text === marker).length;
        proxy.arm({ place, kind: "delay", request: /^POST /, times: 0 });
        const again = await session.call(call);
        if (toolName !== "probe_echo") expect(count(), `${place}: ${again.status}`).toBeLessThanOrEqual(1);
        if (again.status === "succeeded") expect(count(), place).toBeGreaterThan(0);
        await close();
        await proxy.close();
      }
    }
  },
  300_000,
);
