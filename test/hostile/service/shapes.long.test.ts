import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { renderOutcome, type ToolOutcome } from "../../../src/plugin/calls/outcome.ts";
import { openToolbox } from "../../../src/plugin/runtimes/library/open-toolbox.ts";
import {
  closeAll,
  closeLater,
  openTestSession,
  sayYes,
  type TestSession,
} from "../../plugin/calls/open-test-session.ts";
import { createTool } from "../../plugin/calls/scripted-service.ts";
import { type HostileServer, startHostileServer } from "./hostile-server.ts";
import { KEY } from "./poison.ts";

/** What a hostile service can do with the shape of what it says: depth, width, names, cycles, patterns, numbers. */

let server: HostileServer;
let session: TestSession;

beforeEach(async () => {
  server = closeLater(await startHostileServer());
  session = await openTestSession(server, { key: KEY, answer: sayYes });
});
afterEach(closeAll);

const nest = (depth: number, open: string, close: string, inner = "1") =>
  open.repeat(depth) + inner + close.repeat(depth);

async function readResult(text: string): Promise<ToolOutcome> {
  server.say("/api/tools/probe_read", { tool: createTool("probe_read", "read") });
  server.say("/api/tools/probe_read/execute", text);
  return session.call({ callId: crypto.randomUUID(), toolName: "probe_read", arguments: {} });
}

describe("a result", () => {
  it.each([
    ["nested 100,000 lists deep", `{"ok":true,"result":${nest(100_000, "[", "]")}}`],
    ["nested 100,000 objects deep", `{"ok":true,"result":${nest(100_000, '{"a":', "}")}}`],
    ["nested 2,000 deep", `{"ok":true,"result":${nest(2_000, '{"a":[', "]}")}}`],
    ["with 300,000 members", `{"ok":true,"result":{${Array.from({ length: 300_000 }, (_, i) => `"k${i}":1`).join()}}}`],
    ["with a million items", `{"ok":true,"result":[${"1,".repeat(1_000_000)}1]}`],
    ["with one name of 4 MB", `{"ok":true,"result":{"${"k".repeat(4_000_000)}":1}}`],
    ["with a number of 100,000 digits", `{"ok":true,"result":${"9".repeat(100_000)}}`],
    ["deep in its error", `{"ok":false,"error":{"code":"x","message":"m","more":${nest(100_000, "[", "]")}}}`],
    [
      "deep in its next action",
      `{"ok":false,"canonical":{"status":"failed","recommended_next_action":{"tool":"svc.connect_app","input":${nest(50_000, '{"a":', "}", "{}")}}}}`,
    ],
  ])("%s ends in an outcome that can be shown", async (_name, text) => {
    const outcome = await readResult(text);
    const shown = renderOutcome(outcome);
    expect(shown.length).toBeLessThan(64_000);
    expect(JSON.parse(shown)).toMatchObject({ tool: "probe_read" });
    expect(shown).not.toMatch(/RangeError|call stack|\bat .+:\d+:\d+/);
  });

  it("with names of prototypes changes no prototype and keeps its members", async () => {
    const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "toJSON"];
    const members = names.map((name) => `"${name}":{"polluted":true,"isAdmin":true}`).join(",");
    const outcome = await readResult(
      `{"ok":true,${members},"result":{${members}},"canonical":{${members}},"meta":{${members}}}`,
    );
    expect(outcome.status).toBe("succeeded");
    expect(Object.keys(JSON.parse(renderOutcome(outcome)).result).sort()).toEqual([...names].sort());
    expect({}).not.toHaveProperty("polluted");
    expect([]).not.toHaveProperty("isAdmin");
  });

  it.each(["ok", "status", "error", "result", "canonical", "hint", "details"])(
    "whose %s is of any other kind is no reason to throw",
    async (member) => {
      for (const value of [null, 0, "", [], {}, true, [[]], { "": 1 }, [null], "x".repeat(100_000), -1e308]) {
        const honest = { ok: false, error: { code: "x", message: "m" }, canonical: { status: "failed" } };
        const outcome = await readResult(JSON.stringify({ ...honest, [member]: value }));
        expect(renderOutcome(outcome).length).toBeLessThan(40_000);
      }
    },
  );
});

describe("a schema", () => {
  const bomb = "(a+)+$";
  const cases: readonly (readonly [string, string])[] = [
    ["10,000 levels deep", nest(10_000, '{"type":"object","properties":{"a":', "}}", "{}")],
    ["120 levels deep", nest(120, '{"type":"object","properties":{"a":', "}}", "{}")],
    ["with half a character", '{"type":"object","description":"\\ud800","properties":{"\\udfff":{"type":"string"}}}'],
    ["that refers to itself", '{"$ref":"#"}'],
    [
      "of references in a ring",
      '{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}',
    ],
    [
      "of references that double",
      `{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{${Array.from({ length: 40 }, (_, i) => `"d${i}":{"type":"object","properties":{"l":{"$ref":"#/$defs/d${i + 1}"},"r":{"$ref":"#/$defs/d${i + 1}"}}}`).join()},"d40":{"type":"string"}}}`,
    ],
    [
      "with references elsewhere",
      '{"type":"object","properties":{"a":{"$ref":"http://127.0.0.2:9/x.json"},"b":{"$ref":"file:///etc/passwd"}}}',
    ],
    [
      "with 20,000 definitions",
      `{"type":"object","$defs":{${Array.from({ length: 20_000 }, (_, i) => `"d${i}":{"type":"string","description":"${"x".repeat(50)}"}`).join()}}}`,
    ],
    [
      "with 20,000 properties",
      `{"type":"object","properties":{${Array.from({ length: 20_000 }, (_, i) => `"p${i}":{"type":"string"}`).join()}}}`,
    ],
    [
      "with 5,000 alternatives",
      `{"anyOf":[${Array.from({ length: 5_000 }, (_, i) => `{"type":"object","properties":{"p${i}":{"const":${i}}},"required":["p${i}"]}`).join()}]}`,
    ],
    [
      "of patterns that explode",
      JSON.stringify({ type: "object", properties: { text: { type: "string", pattern: bomb } } }),
    ],
    [
      "of names that explode",
      JSON.stringify({
        type: "object",
        patternProperties: { [bomb]: { type: "string" } },
        propertyNames: { pattern: bomb },
      }),
    ],
    [
      "of names that explode in items",
      JSON.stringify({
        type: "object",
        properties: { text: { anyOf: [{ pattern: bomb }, { not: { pattern: bomb } }] } },
        additionalProperties: { pattern: bomb },
      }),
    ],
    [
      "of prototype names",
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"text":{"type":"string"}},"required":["__proto__"],"__proto__":{"type":"array"}}',
    ],
    [
      "with a default for everything",
      '{"type":"object","properties":{"confirmed":{"type":"boolean","default":true,"const":true},"connectionId":{"default":"2"}},"required":["confirmed"]}',
    ],
    ["that is a list", "[]"],
    ["that is text", '"object"'],
    ["that is true", "true"],
  ];

  it.each(cases)(
    "%s can be offered, described, checked against and called",
    async (_name, schema) => {
      const tool = JSON.stringify(createTool("probe_write", "write", { inputSchema: "SCHEMA" })).replace(
        '"SCHEMA"',
        schema,
      );
      server.say("/api/tools", {
        tools: [createTool("probe_write", "write", { inputSchema: null })],
        count: 1,
        total: 1,
      });
      server.say("/api/tools/probe_write", `{"tool":${tool}}`);
      server.say("/api/tools/probe_write/execute", { ok: true, result: 1 });
      const toolbox = closeLater(
        await openToolbox({ baseUrl: server.url, apiKey: KEY, approve: async (one) => sayYes(one) }),
      );
      for (const { schema: shown } of toolbox.tools) expect(JSON.stringify(shown).length).toBeLessThan(64_000);
      const described = await toolbox.tools
        .find(({ name }) => name === "svc_describe_tool")
        ?.run({ name: "probe_write" }, { callId: "d" });
      expect(["succeeded", "failed"]).toContain(described?.status);
      expect(described?.text.length).toBeLessThan(64_000);
      const args = { text: `${"a".repeat(40)}!`, [`${"a".repeat(40)}!`]: "b" };
      const outcome = await session.call({ callId: "c", toolName: "probe_write", arguments: args });
      expect(["succeeded", "failed"]).toContain(outcome.status);
      expect(renderOutcome(outcome)).not.toMatch(/RangeError|TypeError|\bat .+:\d+:\d+/);
      const sent = server.requests.filter(({ path }) => path.endsWith("/execute")).map(({ body }) => JSON.parse(body));
      for (const body of sent) expect(body).toEqual({ arguments: args, confirmed: true });
    },
    60_000,
  );
});

describe("a catalogue", () => {
  const serve = (tools: readonly object[], more: object = {}) =>
    server.say("/api/tools", { tools, count: tools.length, total: tools.length, truncated: false, ...more });
  const open = () =>
    openToolbox({ baseUrl: server.url, apiKey: KEY, approve: async (one) => sayYes(one) }).then(closeLater);

  it("of names that collide, or are those of our own tools, is refused in clear words and runs nothing", async () => {
    for (const names of [["a_b", "a.b", "a b"], ["svc_call_tool"], ["svc_read_result", "svc_status"], ["a_b", "a_b"]]) {
      serve(names.map((name) => createTool(name, "write")));
      const toolbox = await open();
      let shown: unknown;
      try {
        shown = toolbox.tools.map(({ name }) => name);
      } catch (error) {
        shown = error;
      }
      if (shown instanceof Error) expect(shown).toMatchObject({ code: "unsupported" });
      else expect(new Set(shown as string[]).size).toBe((shown as string[]).length);
    }
    expect(server.requests.some(({ path }) => path.endsWith("/execute"))).toBe(false);
  });

  it("of hostile names reaches no other path of the service", async () => {
    const names = [
      "../../api/flows/start",
      "..",
      ".",
      "",
      "a/../../x",
      "%2e%2e",
      "a?b=c",
      "a#b",
      "\u0000",
      "x".repeat(10_000),
      "__proto__",
      "constructor",
    ];
    serve(names.map((name) => createTool(name, "read")));
    const toolbox = await open();
    for (const name of names) {
      const outcome = await toolbox.session.call({ callId: name, toolName: name, arguments: {} });
      expect(outcome.status).toBe("failed");
    }
    for (const { path } of server.requests) {
      expect(path).toMatch(/^\/api\/(tools|integrations)(\/(?!\.{1,2}(\/|$))[^/?#]+(\/execute)?)?(\?[^#]*)?$/);
    }
  });

  it("of 10,000 tools, or more than it says, is held and offered in part, and the rest is counted", async () => {
    serve(Array.from({ length: 10_000 }, (_, index) => createTool(`probe_t${index}`, "read")));
    const toolbox = await open();
    expect(toolbox.tools.length).toBeLessThanOrEqual(128);
    expect(toolbox.tools.find(({ name }) => name === "svc_search_tools")?.description).toMatch(
      /\d+ tools are not in your tool list/,
    );
  });

  it("without end asks for a bounded number of pages", async () => {
    let page = 0;
    server.on("/api/integrations", (_request, response) => {
      page += 1;
      const items = Array.from({ length: 100 }, (_, index) => ({
        integration_id: `app${page}-${index}`,
        name: "x",
        connected: true,
      }));
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ items, page, page_size: 100, total: 1e15 }));
    });
    serve([createTool("probe_read", "read")], { truncated: true, total: 1e15 });
    const toolbox = await open();
    expect(server.requests.length).toBeLessThan(1_200);
    expect(toolbox.tools.length).toBeLessThanOrEqual(128);
  }, 60_000);

  it("with numbers that are none is read", async () => {
    const text = JSON.stringify(createTool("probe_read", "read"));
    for (const number of ["-1", "1e999", "-1e999", "0.5", '"5"', "null", "[]"]) {
      server.say("/api/tools", `{"tools":[${text}],"count":${number},"total":${number},"truncated":false}`);
      const outcome = await openToolbox({ baseUrl: server.url, apiKey: KEY }).then(
        async (toolbox) => {
          const description = toolbox.tools.find(({ name }) => name === "svc_search_tools")?.description ?? "";
          await toolbox.close();
          return description;
        },
        (error: unknown) => error,
      );
      if (outcome instanceof Error) expect(outcome).toMatchObject({ code: "bad_response" });
      else expect(outcome).not.toMatch(/NaN|Infinity|-\d/);
    }
  });

  it("that promises to keep keys for ever, or for less than nothing, is not believed blindly", async () => {
    for (const kept of ["-5", "1e999", "0", "1e-300", '"x"']) {
      const tool = JSON.stringify(createTool("probe_write", "write")).replace(
        '"canonical":{',
        `"canonical":{"idempotency_key":{"kept_seconds":${kept}},`,
      );
      server.say("/api/tools/probe_write", `{"tool":${tool}}`);
      server.say("/api/tools/probe_write/execute", { ok: true, result: 1 });
      server.say("/api/executions", { execution_id: "e", status: "succeeded", output: 1 });
      const own = await openTestSession(server, { key: KEY, answer: sayYes });
      const outcome = await own.call({ callId: kept, toolName: "probe_write", arguments: { text: "a" } });
      expect(outcome.status).toBe("succeeded");
      const again = await own.call({ callId: kept, toolName: "probe_write", arguments: { text: "a" } });
      expect(again.notes.join(" ")).toContain("answered from the journal");
    }
  });
});
