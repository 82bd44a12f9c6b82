import { expect, test } from "vitest";
import { undoAll } from "../../src/service/open-service.ts";

test("what cannot be undone keeps none of the others from its turn, is logged, and told at the end", async () => {
  const undone: string[] = [];
  const logged: unknown[] = [];
  const fail = (words: string) => () => {
    throw new Error(words);
  };
  const first = new Error("The store is stuck.");
  const opened = [
    () => undone.push("folder"),
    fail("The files are gone."),
    async () => void undone.push("store"),
    () => Promise.reject(first),
    () => undone.push("port"),
  ];
  await expect(undoAll(opened, ({ cause }) => logged.push(cause))).rejects.toBe(first);
  expect(undone).toEqual(["port", "store", "folder"]);
  expect(logged).toEqual([first, new Error("The files are gone.")]);
});
