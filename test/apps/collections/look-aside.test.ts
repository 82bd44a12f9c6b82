import { expect, it } from "vitest";
import { lookAside } from "../../../src/apps/collections/look-aside.ts";

const { signal } = new AbortController();
const never = (end: AbortSignal) => new Promise<never>((_, reject) => end.addEventListener("abort", () => reject(end)));

it("gives what was found, and nothing for a look that fails or takes too long", async () => {
  expect(await lookAside(async () => "found", signal)).toBe("found");
  expect(await lookAside(() => Promise.reject(new Error("down")), signal)).toBeUndefined();
  let end: AbortSignal | undefined;
  const look = (given: AbortSignal) => {
    end = given;
    return never(given);
  };
  expect(await lookAside(look, signal, 1)).toBeUndefined();
  expect(end?.aborted).toBe(true);
});

it("ends with the call", async () => {
  const call = new AbortController();
  const looked = lookAside(never, call.signal);
  call.abort(new Error("over"));
  await expect(looked).rejects.toThrow("over");
});
