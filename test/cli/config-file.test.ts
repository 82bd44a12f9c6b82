import { describe, expect, test } from "vitest";
import { mergeConfig } from "../../src/cli/mcp-client-files.ts";

const SERVER = { serversKey: "mcpServers", serverName: "svc", entry: { url: "http://x/api/mcp" } };
const merge = (text: string) => mergeConfig("/home/me/.cursor/mcp.json", text, SERVER);

describe("merging a server into a client's configuration", () => {
  test.each(["", " \n", "{}"])("starts from %j", (text) => {
    expect(merge(text)).toEqual({
      text: `${JSON.stringify({ mcpServers: { svc: SERVER.entry } }, null, 2)}\n`,
      replaced: false,
    });
  });

  test("keeps everything else: order, indentation, large numbers, odd keys, a byte order mark", () => {
    const text =
      '\uFEFF{\n\t"z": 12345678901234567890,\n\t"a": 1.0,\n\t"__proto__": { "x": 1 },\n\t"mcpServers": {\n\t\t"other": { "command": "x" }\n\t}\n}';
    const merged = merge(text).text;
    expect(merged).toContain('\t"z": 12345678901234567890,\n\t"a": 1.0,\n\t"__proto__": {\n\t\t"x": 1\n\t}');
    expect(JSON.parse(merged).mcpServers).toEqual({ other: { command: "x" }, svc: SERVER.entry });
  });

  test("replaces a server of the same name and says so", () => {
    const merged = merge('{ "mcpServers": { "svc": { "url": "http://old", "extra": 1 } } }');
    expect(merged.replaced).toBe(true);
    expect(JSON.parse(merged.text)).toEqual({ mcpServers: { svc: SERVER.entry } });
  });

  test("merging twice changes nothing more", () => {
    const once = merge('{ "a": 1 }').text;
    expect(merge(once).text).toBe(once);
  });

  test.each([
    ['{ // mine\n "mcpServers": {} }', /is not plain JSON/],
    ['{ "mcpServers": {}, }', /is not plain JSON/],
    ["[]", /The file is not an object/],
    ["null", /The file is not an object/],
    ['{ "mcpServers": [] }', /"mcpServers" is not an object/],
    ['{ "mcpServers": "none" }', /"mcpServers" is not an object/],
  ])("leaves %j alone", (text, message) => {
    expect(() => merge(text)).toThrow(message);
    expect(() => merge(text)).toThrow(/mcp\.json .*Nothing was changed/);
  });
});
