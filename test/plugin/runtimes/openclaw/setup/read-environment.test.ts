import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readEnvironment } from "../../../../../src/plugin/runtimes/openclaw/setup/read-environment.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-home-"));
});

afterEach(() => rmSync(home, { recursive: true }));

describe("the state folder", () => {
  const stateDir = (variables: Record<string, string>) => readEnvironment({ HOME: home, ...variables }).stateDir;

  test.each([
    ["nothing is set", {}, () => join(home, ".openclaw")],
    ["it is named", { OPENCLAW_STATE_DIR: "/srv/claw" }, () => "/srv/claw"],
    ["it is named below the home folder", { OPENCLAW_STATE_DIR: " ~/claw " }, () => join(home, "claw")],
    ["it is named relative", { OPENCLAW_STATE_DIR: "claw" }, () => resolve("claw")],
    ["it is named empty", { OPENCLAW_STATE_DIR: "  " }, () => join(home, ".openclaw")],
    ["the host has a home of its own", { OPENCLAW_HOME: "/srv/home" }, () => "/srv/home/.openclaw"],
    ["that home is below the user's", { OPENCLAW_HOME: "~/inner" }, () => join(home, "inner", ".openclaw")],
    ["a script wrote undefined", { OPENCLAW_HOME: "undefined" }, () => join(home, ".openclaw")],
  ])("is found as the host finds it when %s", (_when, variables, expected) => {
    expect(stateDir(variables)).toBe(expected());
  });

  test("is the one of the former name when only that is there", () => {
    mkdirSync(join(home, ".clawdbot"));
    expect(stateDir({})).toBe(join(home, ".clawdbot"));
    mkdirSync(join(home, ".openclaw"));
    expect(stateDir({})).toBe(join(home, ".openclaw"));
  });
});

test("takes key and address, and an empty variable as none", () => {
  const read = readEnvironment({ HOME: home, SVC_API_KEY: "svc_live_a", SVC_BASE_URL: "https://svc.example" });
  expect(read).toMatchObject({ apiKey: "svc_live_a", baseUrl: "https://svc.example" });
  const empty = readEnvironment({ HOME: home, SVC_API_KEY: "", SVC_BASE_URL: "" });
  expect([empty.apiKey, empty.baseUrl]).toEqual([undefined, undefined]);
});

describe("a .env file in the folder the host was started in", () => {
  const MINE = { SVC_API_KEY: "svc_live_mine", SVC_BASE_URL: "https://svc.example" };

  test.each([
    "SVC_API_KEY=svc_live_mine",
    "  export SVC_API_KEY = 'svc_live_mine'  # a comment",
    'OTHER=1\r\nSVC_API_KEY="svc_live_mine"\r\n',
    "SVC_API_KEY=first\nSVC_API_KEY=svc_live_mine # the last one counts",
  ])("is no source of a key: %j", (text) => {
    writeFileSync(join(home, ".env"), text);
    const read = readEnvironment({ HOME: home, ...MINE }, home);
    expect([read.apiKey, read.baseUrl]).toEqual([undefined, "https://svc.example"]);
  });

  test.each(["", "# SVC_API_KEY=svc_live_mine", "SVC_API_KEY=svc_live_other", "MY_SVC_API_KEY=svc_live_mine"])(
    "takes nothing away that came another way: %j",
    (text) => {
      writeFileSync(join(home, ".env"), text);
      expect(readEnvironment({ HOME: home, ...MINE }, home).apiKey).toBe("svc_live_mine");
    },
  );

  test("counts when it is the host's own, in its state folder", () => {
    writeFileSync(join(home, ".env"), "SVC_API_KEY=svc_live_mine");
    expect(readEnvironment({ OPENCLAW_STATE_DIR: home, ...MINE }, home).apiKey).toBe("svc_live_mine");
  });

  test("that is not there, or a folder that is gone, changes nothing", () => {
    expect(readEnvironment({ HOME: home, ...MINE }, join(home, "gone")).apiKey).toBe("svc_live_mine");
    expect(readEnvironment({ HOME: home, ...MINE }, undefined).apiKey).toBe("svc_live_mine");
  });
});
