import { expect, it } from "vitest";
import { STATIC_DEFINITIONS } from "../../../../src/plugin/runtimes/openclaw/translate-tool.ts";
import { readOwnTools } from "./read-own-tools.ts";

it("shows every static and flow tool as the rooms that own them do", async () => {
  expect(STATIC_DEFINITIONS).toEqual(await readOwnTools());
});
