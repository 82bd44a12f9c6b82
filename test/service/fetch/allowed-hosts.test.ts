import { describe, expect, it } from "vitest";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";

describe("readAllowedHosts", () => {
  it.each([
    ["files.example.org:443", "https://files.example.org/a", true],
    ["Files.Example.org:443", "https://files.example.org:443/a", true],
    ["files.example.org:443", "http://files.example.org:443/a", true],
    ["files.example.org:80", "http://files.example.org/a", true],
    ["files.example.org:443", "http://files.example.org/a", false],
    ["files.example.org:443", "https://www.files.example.org/a", false],
    ["files.example.org:443", "https://files.example.org:444/a", false],
    ["127.1:8080", "http://127.0.0.1:8080/", true],
    ["[0:0::1]:8080", "http://[::1]:8080/", true],
    ["nas.local:5000", "http://nas.local:5000/x?y", true],
    [" nas.local:5000 ", "http://nas.local:5000/", true],
  ])("%s and %s: %s", (entry, url, expected) => {
    expect(readAllowedHosts([entry]).has(new URL(url))).toBe(expected);
  });

  it.each([
    "",
    "files.example.org",
    "*:80",
    "*.example.org:80",
    "files.example.org:",
    "files.example.org:0",
    "files.example.org:65536",
    "files.example.org:http",
    "http://files.example.org:80",
    "user@files.example.org:80",
    "files.example.org:80/path",
    "a b:80",
    "::1:80",
    "a:1:2",
  ])("refuses the entry %j with a way out", (entry) => {
    expect(() => readAllowedHosts([entry])).toThrow(
      expect.objectContaining({
        code: "invalid_config",
        field: "allowHosts",
        hint: expect.stringContaining("HOST:PORT"),
      }),
    );
  });
});
