import { expect, test } from "vitest";
import { fuzzEndpoints, fuzzFlows } from "./fuzz-rules.ts";

/** `fuzz-rules.long.test.ts` does the same for longer. */

test("no call in any spelling passes a block, and no delete runs unasked", async () => {
  const { ran, blocked } = await fuzzEndpoints(60);
  expect(ran).toBeGreaterThan(5);
  expect(blocked).toBeGreaterThan(5);
});

test("no step of a flow passes a block", async () => {
  expect(await fuzzFlows(40)).toBeGreaterThan(5);
});
