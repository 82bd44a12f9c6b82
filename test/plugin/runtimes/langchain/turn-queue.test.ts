import { expect, it } from "vitest";
import { TurnQueue } from "../../../../src/plugin/runtimes/langchain/turn-queue.ts";

/** One piece of work after another, whatever arrives first. */

function start() {
  const queue = new TurnQueue();
  const done: string[] = [];
  const run = (order: number, name: string, work: () => Promise<void> = async () => {}) =>
    queue.run(order, async () => {
      await work();
      done.push(name);
    });
  return { run, done };
}

it("runs what waits by its order, and within one order as it arrived", async () => {
  const { run, done } = start();
  const held = Promise.withResolvers<void>();
  const all = [
    run(5, "running", () => held.promise),
    run(3, "third"),
    run(1, "first"),
    run(3, "fourth"),
    run(2, "second"),
  ];
  held.resolve();
  await Promise.all(all);
  expect(done).toEqual(["running", "first", "second", "third", "fourth"]);
});

it("lets work that is begun within a turn wait for nobody", async () => {
  const { run, done } = start();
  await Promise.all([run(1, "outer", () => run(9, "inner")), run(2, "next")]);
  expect(done).toEqual(["inner", "outer", "next"]);
});

it("goes on after work that failed", async () => {
  const { run, done } = start();
  const failing = run(1, "failing", () => Promise.reject(new Error("no")));
  const next = run(2, "next");
  await expect(failing).rejects.toThrow("no");
  await next;
  expect(done).toEqual(["next"]);
});
