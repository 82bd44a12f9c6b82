import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKeep, inTurn, type StoreState } from "../../../src/service/store/store-states.ts";
import { CHANGES, expectNoticed, expectUseUnnoticed, openTwo } from "./watched-changes.ts";

describe("the state of a SQLite file", () => {
  let folder: string;
  let two: Awaited<ReturnType<typeof openTwo>>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-states-"));
    two = await openTwo(join(folder, "svc.db"));
  });
  afterEach(async () => {
    await two.close();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(CHANGES)("is another one when %s", async (_name, change) => {
    await expectNoticed(two, change);
  });

  test("stays the same when a key is used", async () => {
    await expectUseUnnoticed(two);
  });
});

test("who asks while a read is under way gets the next one, which all who wait share", async () => {
  const begun: PromiseWithResolvers<string>[] = [];
  const read = inTurn(() => {
    const next = Promise.withResolvers<string>();
    begun.push(next);
    return next.promise;
  });
  const first = read();
  // Something is committed here that the first read may have missed.
  const waiting = [read(), read()];
  expect(begun).toHaveLength(1);
  begun[0]?.resolve("before");
  expect(await first).toBe("before");
  await expect.poll(() => begun.length).toBe(2);
  const late = read();
  begun[1]?.resolve("after");
  expect(await Promise.all(waiting)).toEqual(["after", "after"]);
  await expect.poll(() => begun.length).toBe(3);
  begun[2]?.reject(new Error("away"));
  await expect(late).rejects.toThrow("away");
  const again = read();
  begun[3]?.resolve("back");
  expect(await again).toBe("back");
});

describe("what is kept by a state", () => {
  const state = (mark: string): StoreState => ({ mark });
  const counted = () => {
    let loads = 0;
    return async () => {
      loads += 1;
      return loads;
    };
  };

  test("is loaded once in each state, also by callers at the same time", async () => {
    const [keep, load, first] = [createKeep<number>(2), counted(), state("a")];
    expect(await Promise.all([keep(first, "x", load), keep(first, "x", load)])).toEqual([1, 1]);
    expect(await keep(state("a"), "x", load)).toBe(2);
    expect(await keep(first, "x", load)).toBe(1);
  });

  test("is at most so much; the longest unused value is dropped", async () => {
    const [keep, load, one] = [createKeep<number>(2), counted(), state("a")];
    for (const key of ["x", "y", "x", "z"]) await keep(one, key, load);
    expect([await keep(one, "x", load), await keep(one, "y", load)]).toEqual([1, 4]);
  });

  test("is neither a failure nor nothing", async () => {
    const [keep, one] = [createKeep<number | undefined>(2), state("a")];
    await expect(
      keep(one, "x", async () => {
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await keep(one, "x", async () => undefined)).toBeUndefined();
    expect(await keep(one, "x", async () => 7)).toBe(7);
  });
});
