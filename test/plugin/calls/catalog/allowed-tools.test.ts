import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtInIntegrations } from "../../../../src/apps/built-in.ts";
import { openToolbox, SvcClient } from "../../../../src/index.ts";
import { createDynamicToolsMiddleware, SvcToolkit } from "../../../../src/langchain.ts";
import type { AllowedTools } from "../../../../src/plugin/calls/catalog/limit-catalog.ts";
import type { ToolOutcome } from "../../../../src/plugin/calls/outcome.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder, sayYes } from "../open-test-session.ts";

/** A program lets its model use some tools; the model tries to reach the others. */

let service: TestService;
let client: SvcClient;
let sent: string[];
beforeEach(async () => {
  service = closeLater(await startTestService());
  client = closeLater(new SvcClient({ baseUrl: service.url, apiKey: service.apiKey }));
  sent = [];
  const { executeTool, execute, startFlow } = client;
  client.executeTool = (...call) => {
    sent.push(call[0]);
    return executeTool.apply(client, call);
  };
  client.execute = (...call) => {
    sent.push(String(call[0].action_id));
    return execute.apply(client, call);
  };
  client.startFlow = (...call) => {
    sent.push(call[0].flowTemplate);
    return startFlow.apply(client, call);
  };
});
afterEach(closeAll);

/** Calls a tool that a runtime gave, by its name; undefined when there is none. */
type Use = (name: string, args: unknown) => Promise<ToolOutcome | undefined>;

const RUNTIMES: readonly (readonly [
  string,
  (options: { allow?: AllowedTools; integrations?: string[] }) => Promise<Use>,
])[] = [
  [
    "in LangChain",
    async (options) => {
      const toolkit = closeLater(
        await SvcToolkit.create({ client, approve: async (asked) => sayYes(asked), ...options }),
      );
      await createDynamicToolsMiddleware(toolkit);
      const given = new Map(toolkit.getTools().map((tool) => [tool.name, tool]));
      return async (name, args) => {
        const tool = given.get(name) ?? (await toolkit.loadTools([name]))[0];
        const message = await tool?.invoke({ type: "tool_call", id: crypto.randomUUID(), name, args: args as never });
        return message?.artifact;
      };
    },
  ],
  [
    "in a toolbox",
    async (options) => {
      const toolbox = closeLater(await openToolbox({ client, approve: async (asked) => sayYes(asked), ...options }));
      return async (name, args) => {
        const tool = toolbox.tools.find((one) => one.name === name);
        return (await tool?.run(args, { callId: crypto.randomUUID() }))?.outcome;
      };
    },
  ],
];

const READ_MAIL = "mail_search";
/** How many tools the service has. */
const ALL = builtInIntegrations.flatMap(({ actions }) => actions).length;
/** A limit and a call that is beyond it. */
const LIMITS: readonly (readonly [string, { allow?: AllowedTools; integrations?: string[] }, string])[] = [
  ["an app by create's own setting", { integrations: ["drive"] }, READ_MAIL],
  ["an app", { allow: { integrations: ["drive"] } }, READ_MAIL],
  ["an app of both settings", { allow: { integrations: ["drive", "mail"] }, integrations: ["drive"] }, READ_MAIL],
  ["a tool", { allow: { tools: ["drive_list_files"] } }, READ_MAIL],
  ["a level", { allow: { levels: ["read"] } }, "notes_create_page"],
  ["a level of an app", { allow: { integrations: ["drive"], levels: ["read"] } }, "drive_delete_file"],
];
const ARGUMENTS: Record<string, object> = {
  [READ_MAIL]: { query: "invoice" },
  notes_create_page: { title: "a", body: "b" },
  drive_delete_file: { path: "a.txt" },
};

describe.each(RUNTIMES)("%s", (_runtime, start) => {
  describe.each(LIMITS)("%s is a limit", (_name, options, beyond) => {
    it("for what is called, whatever it is called by", async () => {
      const use = await start(options);
      const app = beyond.split("_")[0] ?? "";
      const action = beyond.slice(app.length + 1);
      const names = [
        beyond,
        beyond.toUpperCase(),
        ` ${beyond}`,
        `${beyond} `,
        `${app}.${action}`,
        `${app}/${action}`,
        action,
      ];
      for (const name of names) {
        const direct = await use(name, ARGUMENTS[beyond]);
        expect(direct?.status ?? "failed").toBe("failed");
        const called = await use("svc_call_tool", { name, arguments: ARGUMENTS[beyond] });
        expect(called?.status).toBe("failed");
        if (name === beyond) expect(called?.code).toBe("tool_not_found");
        if (name === beyond) expect(called?.hint).toContain("This program limits which tools can be used.");
        const pinned = await use("svc_call_tool", {
          name,
          arguments: JSON.stringify(ARGUMENTS[beyond]),
          connectionId: "1",
        });
        expect(pinned?.status).toBe("failed");
      }
      expect(sent).toEqual([]);
    });

    it("for what is searched, described and counted", async () => {
      const use = await start(options);
      const words = beyond.replaceAll("_", " ");
      for (const more of [{}, { integration: beyond.split("_")[0] }, { limit: 20 }]) {
        const found = await use("svc_search_tools", { query: words, ...more });
        expect(found?.status).toBe("succeeded");
        expect(JSON.stringify(found?.result)).not.toContain(beyond);
      }
      const described = await use("svc_describe_tool", { name: beyond });
      expect([described?.status, described?.code]).toEqual(["failed", "tool_not_found"]);
      expect(JSON.stringify(described)).not.toContain(`Close names: ${beyond}`);
      const status = await use("svc_status", {});
      expect(status?.status).toBe("succeeded");
      const shown = JSON.stringify(status?.result);
      if (beyond === READ_MAIL) expect(shown).toContain('"apps":["drive"]');
      expect(shown).not.toContain(`"tools":${ALL}`);
    });

    it("for flows, which reach every app", async () => {
      const use = await start(options);
      expect(await use("svc_start_flow", { template: "meeting_notes", input: {} })).toBeUndefined();
      expect(await use("svc_list_flow_templates", {})).toBeUndefined();
    });
  });

  it("what is within the limits works, and can be searched", async () => {
    const use = await start({ allow: { integrations: ["drive", "notes"], levels: ["read", "write"], flows: true } });
    const found = await use("svc_search_tools", { query: "create a page", limit: 1 });
    expect(JSON.stringify(found?.result)).toContain("notes_create_page");
    const made = await use("svc_call_tool", { name: "notes_create_page", arguments: { title: "a", body: "b" } });
    expect(made?.status).toBe("succeeded");
    expect(sent).toEqual(["notes_create_page"]);
    expect((await use("svc_list_flow_templates", {}))?.status).toBe("succeeded");
  });
});

it("what a model is given of its tools narrows its list, not what it may use", async () => {
  const toolkit = closeLater(await SvcToolkit.create({ client }));
  const tools = toolkit.getTools({ integrations: ["drive"], levels: ["read"] });
  const call = { name: READ_MAIL, arguments: ARGUMENTS[READ_MAIL] };
  const message = await tools
    .find(({ name }) => name === "svc_call_tool")
    ?.invoke({ type: "tool_call", id: "1", name: "svc_call_tool", args: call });
  expect(message?.artifact.status).toBe("succeeded");
});

it("a tool that came to do more than is allowed is not sent", async () => {
  const toolkit = closeLater(await SvcToolkit.create({ client, allow: { levels: ["read"] } }));
  const { session } = toolkit;
  const { describeTool } = client;
  client.describeTool = async (...call) => {
    const tool = await describeTool.apply(client, call);
    return { ...tool, canonical: { ...Object(tool.canonical), side_effect_level: "delete", action: undefined } };
  };
  await session.catalog.refresh("drive_list_files");
  const outcome = await session.call({ callId: "1", toolName: "drive_list_files", arguments: {} });
  expect([outcome.status, outcome.code]).toEqual(["failed", "tool_not_found"]);
  expect(sent).toEqual([]);
});

it("a list that is kept on the disk is not limited for others", async () => {
  const stateDir = await makeFolder();
  const limited = await SvcToolkit.create({ client, stateDir, allow: { tools: ["drive_list_files"] } });
  expect(limited.session.catalog.list().map(({ name }) => name)).toEqual(["drive_list_files"]);
  await limited.close();
  const whole = closeLater(await SvcToolkit.create({ client, stateDir }));
  expect(whole.session.catalog.size).toBe(ALL);
  for (const [, , beyond] of LIMITS) expect(whole.session.catalog.peek(beyond)).toBeDefined();
});

it.each([
  [{ apps: ["drive"] }, 'The setting allow has no "apps": it would limit nothing.'],
  [{ integrations: "drive" }, "The setting integrations must be a list of names"],
  [{ levels: ["reads"] }, "The setting levels must be one of"],
  ["drive", "The setting allow has no"],
])("refuses %j", async (allow, message) => {
  await expect(SvcToolkit.create({ client, allow: allow as AllowedTools })).rejects.toThrow(message);
});
