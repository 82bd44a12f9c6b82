import { describe, expect, test } from "vitest";
import { createNameMap, toModelName } from "../../../src/plugin/calls/build.ts";

describe("toModelName", () => {
  test.each([
    ["drive_upload_file", "drive_upload_file"],
    ["svc.search", "svc_search"],
    ["github/create issue", "github_create_issue"],
    ["7zip_list", "t_7zip_list"],
    ["_hidden", "t__hidden"],
    ["", "t_"],
    ["näme", "n_me"],
  ])("%j becomes %j", (name, expected) => {
    expect(toModelName(name)).toBe(expected);
  });

  test("long names are cut, stay apart and stay the same", () => {
    const [a, b] = [toModelName(`${"x".repeat(80)}a`), toModelName(`${"x".repeat(80)}b`)];
    expect(a).toMatch(/^x{56}_[0-9a-f]{7}$/);
    expect(a).not.toBe(b);
    expect(toModelName(`${"x".repeat(80)}a`)).toBe(a);
    expect(toModelName("x".repeat(64))).toBe("x".repeat(64));
  });
});

describe("createNameMap", () => {
  test("leads both ways", () => {
    const map = createNameMap(["svc.search", "notes_read"]);
    expect(map.toModel("svc.search")).toBe("svc_search");
    expect(map.toService("svc_search")).toBe("svc.search");
    expect(map.toService("notes_read")).toBe("notes_read");
    expect(map.toModel("unknown")).toBeUndefined();
    expect(map.toService("unknown")).toBeUndefined();
  });

  test("refuses two tools that would look the same, and takes one tool twice", () => {
    expect(() => createNameMap(["a.b", "a_b"])).toThrow(/"a\.b" and "a_b" would both be shown as "a_b"/);
    expect(createNameMap(["a.b", "a.b"]).toService("a_b")).toBe("a.b");
  });
});
