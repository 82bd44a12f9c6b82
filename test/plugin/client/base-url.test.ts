import { describe, expect, test } from "vitest";
import { isLoopbackHost, parseBaseUrl } from "../../../src/plugin/client/base-url.ts";
import { SvcClient } from "../../../src/plugin/client/client.ts";

describe("parseBaseUrl", () => {
  test.each([
    ["https://svc.example", "https://svc.example"],
    ["https://svc.example/", "https://svc.example"],
    ["https://svc.example:8443/team/a//", "https://svc.example:8443/team/a"],
    ["http://127.0.0.1:8790", "http://127.0.0.1:8790"],
    ["http://127.9.9.9:1/x/", "http://127.9.9.9:1/x"],
    ["http://localhost:8790/", "http://localhost:8790"],
    ["http://app.localhost", "http://app.localhost"],
    ["http://[::1]:8790", "http://[::1]:8790"],
    ["HTTPS://SVC.example", "https://svc.example"],
  ])("reads %s", (text, expected) => {
    expect(parseBaseUrl(text)).toBe(expected);
  });

  test.each([
    ["", "absolute"],
    ["svc.example", "absolute"],
    ["file:///etc/passwd", "absolute"],
    ["https://user:hunter2@svc.example", "user name"],
    ["https://svc.example/?key=hunter2", "query"],
    ["https://svc.example/#hunter2", "query"],
    ["http://svc.example", "http for svc.example"],
    ["http://127.0.0.1.evil.example", "http for"],
    ["http://localhost.evil.example", "http for"],
    ["http://10.0.0.4", "http for"],
  ])("refuses %s", (text, reason) => {
    let error: unknown;
    try {
      parseBaseUrl(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: "invalid_config", field: "baseUrl", sent: false });
    expect(error).toHaveProperty("message", expect.stringContaining(reason));
    expect(error).toHaveProperty("hint", expect.any(String));
    expect(String(error)).not.toContain("hunter2");
    // Command line and OpenClaw show the hint too, and have no such setting.
    expect(error).not.toHaveProperty("hint", expect.stringContaining("allowInsecure"));
  });

  test("accepts plain http elsewhere only when asked to", () => {
    expect(parseBaseUrl("http://10.0.0.4:80/", true)).toBe("http://10.0.0.4");
    expect(new SvcClient({ baseUrl: "http://10.0.0.4", allowInsecure: true }).baseUrl).toBe("http://10.0.0.4");
    expect(() => new SvcClient({ baseUrl: "http://10.0.0.4" })).toThrow("unprotected");
  });

  test("knows loopback hosts by their whole name", () => {
    expect(["localhost", "a.localhost", "127.0.0.1", "[::1]"].map(isLoopbackHost)).toEqual([true, true, true, true]);
    expect(["xlocalhost", "127.0.0.1.x", "[::2]", "0.0.0.0"].map(isLoopbackHost)).toEqual([false, false, false, false]);
  });
});
