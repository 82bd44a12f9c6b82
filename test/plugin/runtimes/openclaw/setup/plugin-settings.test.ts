import { describe, expect, test } from "vitest";
import { readPluginSettings } from "../../../../../src/plugin/runtimes/openclaw/setup/plugin-settings.ts";

const NONE = { baseUrl: undefined };

describe("settings in OpenClaw", () => {
  test.each([undefined, null, {}])("%j leaves every default", (config) => {
    expect(readPluginSettings(config, NONE)).toEqual({
      baseUrl: undefined,
      mediaRoots: [],
      upload: "envelope",
      validation: "advise",
      apiKey: undefined,
      actions: { integrations: undefined, limit: undefined },
    });
  });

  test("win over the environment, which stands in for a missing address", () => {
    const environment = { baseUrl: "https://env.example" };
    expect(readPluginSettings({ baseUrl: "https://set.example" }, environment).baseUrl).toBe("https://set.example");
    expect(readPluginSettings({}, environment).baseUrl).toBe("https://env.example");
  });

  test.each([
    ["HTTPS://Svc.Example:443/", "https://svc.example"],
    ["http://10.0.0.4:80/team/", "http://10.0.0.4/team"],
    ["svc.example", "svc.example"],
    ["https://me:hunter2@svc.example/", "https://me:hunter2@svc.example/"],
  ])("spell %s as %s, so that addresses can be compared", (baseUrl, expected) => {
    expect(readPluginSettings({ baseUrl }, NONE).baseUrl).toBe(expected);
    expect(readPluginSettings({}, { baseUrl }).baseUrl).toBe(expected);
  });

  test("take a key as text or as a reference the host has not resolved", () => {
    const reference = { source: "env", provider: "default", id: "SVC_API_KEY" };
    expect(readPluginSettings({ apiKey: "svc_live_x" }, NONE).apiKey).toBe("svc_live_x");
    expect(readPluginSettings({ apiKey: reference }, NONE).apiKey).toEqual(reference);
  });

  test.each([
    ["baseUrl", { baseUrl: 1 }],
    ["mediaRoots", { mediaRoots: "/srv" }],
    ["mediaRoots", { mediaRoots: [""] }],
    ["upload", { upload: "shell" }],
    ["validation", { validation: true }],
    ["apiKey", { apiKey: { id: "x" } }],
    ["apiKey", { apiKey: ["svc_live_secret"] }],
    ["actions", { actions: [] }],
    ["actions.integrations", { actions: { integrations: [1] } }],
    ["actions.limit", { actions: { limit: -1 } }],
    ["config", "text"],
  ])("that cannot be used name %s and never its value", (field, config) => {
    const read = () => readPluginSettings(config, NONE);
    expect(read).toThrow(expect.objectContaining({ code: "invalid_config", field: expect.stringContaining(field) }));
    expect(read).toThrow(expect.objectContaining({ message: expect.not.stringContaining("svc_live_secret") }));
  });
});
