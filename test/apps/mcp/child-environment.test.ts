import { expect, test } from "vitest";
import { createChildEnvironment } from "../../../src/apps/mcp/connect-mcp.ts";

test("on Windows it sees what programs need there, however that is spelt", () => {
  const own = { Path: "C:\\Windows", SystemRoot: "C:\\Windows", SVC_SECRET: "x", AppData: "C:\\a", Other: "y" };
  expect(createChildEnvironment({ KEY: "k" }, own, "win32")).toEqual({
    Path: "C:\\Windows",
    SystemRoot: "C:\\Windows",
    AppData: "C:\\a",
    KEY: "k",
  });
});

test("a function of an old shell is left out, and what the owner named comes before what is inherited", () => {
  const own = { PATH: "/bin", LANG: "() { :; }", TZ: "UTC" };
  expect(createChildEnvironment({ TZ: "Europe/Berlin" }, own, "linux")).toEqual({ PATH: "/bin", TZ: "Europe/Berlin" });
});
