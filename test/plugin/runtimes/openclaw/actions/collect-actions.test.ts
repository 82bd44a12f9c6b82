import fc from "fast-check";
import { expect, it } from "vitest";
import { HOST_TOOL_NAMES, nameActions } from "../../../../../src/plugin/runtimes/openclaw/actions/collect-actions.ts";

import { STATIC_DEFINITIONS } from "../../../../../src/plugin/runtimes/openclaw/translate-tool.ts";
import { fuzzOptions } from "../../../../fuzz/fuzz-options.ts";

const nameOf = (toolName: string) => nameActions([toolName]).names.get(toolName);

it("keeps the service's own name where the host can take it", () => {
  expect(nameOf("drive_list_files")).toBe("drive_list_files");
  expect(nameOf("Notion_Create-Page")).toBe("Notion_Create-Page");
});

it("gives another name to a tool that the host, one of its plugins or this plugin has already", () => {
  expect(nameOf("web_search")).toBe("web_search_svc");
  expect(nameOf("GitHub_Publish")).toBe("GitHub_Publish_svc");
  expect(nameOf("workboard_anything")).toBe("workboard_anything_svc");
  expect(nameOf("svc_call_tool")).toBe("svc_call_tool_svc");
  expect(nameOf("telegram")).toBe("telegram_svc");
});

it("gives no name to tools that the host would take for one", () => {
  const { names, collisions } = nameActions(["app_send", "app_Send", "app.send", "app_list"]);
  expect([...names]).toEqual([["app_list", "app_list"]]);
  expect(collisions.map(({ toolName }) => toolName).sort()).toEqual(["app.send", "app_Send", "app_send"]);
});

it("sees a collision with a name it made itself", () => {
  expect(nameActions(["web_search", "web_search_svc"]).names.size).toBe(0);
});

it("only gives names that are legal, free and distinct for the host, whatever a service calls its tools", () => {
  const taken = new Set([...HOST_TOOL_NAMES, ...STATIC_DEFINITIONS.map(({ name }) => name)]);
  const anyName = fc.oneof(
    fc.string({ maxLength: 90 }),
    fc.constantFrom(...taken),
    fc.stringMatching(/^[a-z_]{60,70}$/),
  );
  fc.assert(
    fc.property(fc.array(anyName, { maxLength: 12 }), (toolNames) => {
      const { names, collisions } = nameActions(toolNames);
      const given = [...names.values()];
      expect(new Set(given.map((name) => name.toLowerCase())).size).toBe(given.length);
      for (const name of given) {
        expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
        expect(taken.has(name.toLowerCase())).toBe(false);
      }
      const counted = new Set([...names.keys(), ...collisions.map(({ toolName }) => toolName)]);
      expect(counted).toEqual(new Set(toolNames));
    }),
    fuzzOptions({ runs: 100 }),
  );
});
