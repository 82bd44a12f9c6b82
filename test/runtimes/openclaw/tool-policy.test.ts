import { describe, expect, test } from "vitest";
import { diagnoseConfig } from "../../../src/runtimes/openclaw/diagnose-config.ts";
import { isHealthy } from "../../../src/runtimes/openclaw/finding.ts";

const COMPANION = "/state/svc/actions-plugin";
const TOOLS = [
  { name: "svc_search_tools", plugin: "svc" },
  { name: "svc_call_tool", plugin: "svc" },
  { name: "mail_search", plugin: "svc-actions" },
];

/** A configuration that loads both plugins, changed by `more`. */
function diagnose(more: Readonly<Record<string, unknown>>, hasActions = true) {
  const plugins = { load: { paths: [COMPANION] }, entries: { svc: { enabled: true } } };
  const tools = hasActions ? TOOLS : TOOLS.slice(0, 2);
  return diagnoseConfig({ config: { plugins, ...more }, tools, companion: COMPANION, hasActions });
}

describe("a configuration that hides tools", () => {
  test.each([
    [
      "names neither plugin",
      { tools: { allow: ["read", "exec"] } },
      "tools.allow",
      "every tool",
      /"svc" and "svc-actions"/,
    ],
    [
      "names one of two plugins",
      { tools: { allow: ["svc"] } },
      "tools.allow",
      "1 of 3 tools of svc, mail_search",
      /"svc-actions"/,
    ],
    ["denies by pattern", { tools: { deny: ["SVC_*"] } }, "tools.deny", "2 of 3", /Remove/],
    ["denies all plugins", { tools: { deny: ["group:plugins"] } }, "tools.deny", "every tool", /Remove/],
    [
      "has a profile of its own",
      { tools: { profile: "tiny" } },
      "tools.profile",
      "every tool",
      /tools\.alsoAllow '\["svc","svc-actions"\]'/,
    ],
    [
      "hides them from one agent",
      { agents: { entries: { clerk: { tools: { allow: ["read"] } } } } },
      "agents.entries.clerk.tools.allow",
      "every tool",
      /agents\.entries\.clerk\.tools\.allow/,
    ],
    [
      "hides them from an agent of a list",
      { agents: { list: [{}, { tools: { deny: ["*"] } }] } },
      "agents.list[1].tools.deny",
      "every tool",
      /Remove/,
    ],
    [
      "hides them with one model",
      { tools: { byProvider: { local: { deny: ["mail_*"] } } } },
      "tools.byProvider.local.deny",
      "1 of 3",
      /Remove/,
    ],
    [
      "runs agents in the sandbox",
      { agents: { defaults: { sandbox: { mode: "all" } } } },
      "agents.defaults.sandbox.mode",
      "(all) hides every tool",
      /config set tools\.sandbox\.tools\.alsoAllow '\["svc","svc-actions"\]'/,
    ],
    [
      "runs them there and shows one plugin",
      {
        agents: { defaults: { sandbox: { mode: "non-main" } } },
        tools: { sandbox: { tools: { alsoAllow: ["svc"] } } },
      },
      "agents.defaults.sandbox.mode",
      "1 of 3 tools of svc, mail_search",
      /'\["svc-actions"\]'/,
    ],
    [
      "has a list for the sandbox",
      {
        agents: { defaults: { sandbox: { mode: "all" } } },
        tools: { sandbox: { tools: { allow: ["svc", "read"], alsoAllow: ["ls"] } } },
      },
      "tools.sandbox.tools.allow",
      "1 of 3",
      /"svc-actions" to tools\.sandbox\.tools\.allow/,
    ],
    [
      "denies in the sandbox of one agent",
      {
        agents: {
          entries: { clerk: { sandbox: { mode: "all" }, tools: { sandbox: { tools: { deny: ["mail_*"] } } } } },
        },
        tools: { sandbox: { tools: { alsoAllow: ["group:plugins"] } } },
      },
      "agents.entries.clerk.tools.sandbox.tools.deny",
      "1 of 3",
      /Remove what matches them from agents\.entries\.clerk\.tools\.sandbox\.tools\.deny/,
    ],
    [
      "hides them from an agent with one model",
      { agents: { entries: { clerk: { tools: { byProvider: { local: { allow: ["read"] } } } } } } },
      "agents.entries.clerk.tools.byProvider.local.allow",
      "every tool",
      /Add/,
    ],
    [
      "hides them from one sender",
      { tools: { toolsBySender: { "id:1": { deny: ["svc"] } } } },
      "tools.toolsBySender.id:1.deny",
      "2 of 3",
      /Remove/,
    ],
    [
      "hides them from agents of agents",
      { tools: { subagents: { tools: { deny: ["group:plugins"] } } } },
      "tools.subagents.tools.deny",
      "every tool",
      /Remove/,
    ],
  ])("is told when it %s", (_what, config, id, text, fix) => {
    const [finding, ...others] = diagnose(config);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ id, text: expect.stringContaining(text), fix: expect.stringMatching(fix) });
  });

  test("fails only where everybody is without all tools", () => {
    expect(isHealthy(diagnose({ tools: { allow: ["read"] } }))).toBe(false);
    expect(isHealthy(diagnose({ tools: { allow: ["svc"] } }))).toBe(true);
    expect(isHealthy(diagnose({ agents: { entries: { clerk: { tools: { allow: ["read"] } } } } }))).toBe(true);
    const all = { sandbox: { mode: "all" } };
    expect(isHealthy(diagnose({ agents: { defaults: all } }))).toBe(false);
    expect(isHealthy(diagnose({ agents: { entries: { clerk: all } } }))).toBe(true);
    expect(isHealthy(diagnose({ agents: { defaults: all, entries: { clerk: { sandbox: { mode: "off" } } } } }))).toBe(
      true,
    );
  });

  test.each([
    [{}],
    [{ tools: { profile: "coding" } }],
    [{ tools: { profile: "minimal" } }],
    [{ tools: { profile: "tiny", alsoAllow: ["group:plugins"] } }],
    [{ tools: { allow: ["svc", "svc-actions"] } }],
    [{ tools: { allow: ["*"] } }],
    [{ tools: { allow: ["svc_*", "MAIL_search"] } }],
    [{ tools: { allow: [], deny: ["browser"] } }],
    [{ tools: "damaged", agents: 3 }],
    [{ tools: { sandbox: { tools: { allow: ["read"] } } } }],
    [{ agents: { defaults: { sandbox: { mode: "off" } } } }],
    [{ agents: { defaults: { sandbox: { mode: "all" } } }, tools: { sandbox: { tools: { alsoAllow: ["*"] } } } }],
    [{ agents: { defaults: { sandbox: { mode: "all" } } }, tools: { sandbox: { tools: { allow: [] } } } }],
  ])("is no finding: %j", (config) => {
    expect(diagnose(config)).toEqual([expect.objectContaining({ level: "ok" })]);
  });
});

describe("a configuration that does not load the plugins", () => {
  const load = { load: { paths: [COMPANION] } };
  test.each([
    ["all are off", { enabled: false }, "plugins.enabled", "openclaw config set plugins.enabled true"],
    ["one is denied", { ...load, deny: ["svc"] }, "plugins.deny", "openclaw plugins enable svc"],
    ["one is not on the list", { ...load, allow: ["browser", "svc-actions"] }, "plugins.allow", 'Add "svc" to'],
    [
      "one is off",
      { ...load, entries: { "svc-actions": { enabled: false } } },
      "plugins.entries",
      "openclaw plugins enable svc-actions",
    ],
    ["the folder is not named", { load: { paths: ["/elsewhere", 7] } }, "companion", "openclaw svc sync"],
  ])("is told when %s", (_what, plugins, id, fix) => {
    const findings = diagnose({ plugins });
    expect(findings).toEqual([expect.objectContaining({ id, level: "fail", fix: expect.stringContaining(fix) })]);
  });

  test("needs no folder of action tools without action tools", () => {
    expect(isHealthy(diagnose({ plugins: {} }, false))).toBe(true);
    expect(isHealthy(diagnose({ plugins: { allow: [] } }, false)), "an empty list is no list").toBe(true);
  });
});
