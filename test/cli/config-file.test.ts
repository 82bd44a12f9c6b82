import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { mergeConfig, type ServersPlace } from "../../src/cli/mcp-client-config.ts";

const SERVER = { serverName: "svc", entry: { url: "http://x/api/mcp" } };
const CURSOR: ServersPlace = { file: "/home/me/.cursor/mcp.json", format: "json", serversKey: "mcpServers" };
const merge = (text: string) => mergeConfig(CURSOR, text, SERVER);

describe("merging a server into a client's configuration", () => {
  test.each(["", " \n", "{}"])("starts from %j", (text) => {
    expect(merge(text)).toEqual({
      text: `${JSON.stringify({ mcpServers: { svc: SERVER.entry } }, null, 2)}\n`,
      replaced: false,
    });
  });

  test("keeps everything else: order, indentation, large numbers, odd keys", () => {
    const text =
      '\uFEFF{\n\t"z": 12345678901234567890,\n\t"a": 1.0,\n\t"__proto__": { "x": 1 },\n\t"mcpServers": {\n\t\t"other": { "command": "x" }\n\t}\n}';
    const merged = merge(text).text;
    expect(merged).toContain('{\n\t"z": 12345678901234567890,\n\t"a": 1.0,\n\t"__proto__": { "x": 1 },\n');
    expect(merged).toContain('\n\t\t"svc": {\n\t\t\t"url"');
    expect(JSON.parse(merged).mcpServers).toEqual({ other: { command: "x" }, svc: SERVER.entry });
  });

  test("keeps comments and trailing commas, which VS Code and Zed write themselves", () => {
    const text =
      '// Settings\n{\n  "theme": "One Dark", // dark\n  /* servers */\n  "mcpServers": {\n    "a": { "url": "u", },\n  },\n}\n';
    const { text: merged } = merge(text);
    for (const kept of ["// Settings", "// dark", "/* servers */", '"url": "u",\n']) expect(merged).toContain(kept);
    expect(merge(merged)).toEqual({ text: merged, replaced: true });
  });

  test("keeps the line ends of Windows", () => {
    expect(merge('{\r\n  "a": 1\r\n}\r\n').text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
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
    ['{ "mcpServers": {} ', /is damaged/],
    ["mcpServers: {}", /is damaged/],
    ["[]", /The file is not an object/],
    ["null", /The file is not an object/],
    ['{ "mcpServers": [] }', /"mcpServers" is not an object/],
    ['{ "mcpServers": "none" }', /"mcpServers" is not an object/],
  ])("leaves %j alone", (text, message) => {
    expect(() => merge(text)).toThrow(message);
    expect(() => merge(text)).toThrow(/mcp\.json .*Nothing was changed/);
  });
});

describe("merging a server into Codex's configuration", () => {
  const CODEX: ServersPlace = { file: "/home/me/.codex/config.toml", format: "toml", serversKey: "mcp_servers" };
  const PROGRAM = { serverName: "svc", entry: { command: "/usr/bin/node", args: ["bin.js", "mcp"], env: { A: "1" } } };
  const mergeToml = (text: string) => mergeConfig(CODEX, text, PROGRAM);
  const OLD = '[mcp_servers.svc]\nurl = "old"\n[mcp_servers.svc.http_headers]\nx = "1"\n';

  test.each(["", "\n"])("starts from %j", (text) => {
    const merged = mergeToml(text);
    expect(parse(merged.text)).toEqual({ mcp_servers: { svc: PROGRAM.entry } });
    expect(merged.text).toMatch(/^\[mcp_servers\.svc\]\n/);
    expect(merged.replaced).toBe(false);
  });

  test("keeps everything else, comments too, in its place", () => {
    const before = '# mine\nmodel = "m" # fast\n\n[mcp_servers.other]\ncommand = "x"\n\n';
    const after = '[projects."/a"]\ntrust_level = "trusted"\n';
    expect(mergeToml(before + after).text).toMatch(
      /^# mine\nmodel = "m" # fast[\s\S]*trusted"\n\n\[mcp_servers\.svc\]/,
    );
    const merged = mergeToml(before + OLD + after);
    expect(merged.replaced).toBe(true);
    expect(merged.text.startsWith(before)).toBe(true);
    expect(merged.text.endsWith(`\n${after}`)).toBe(true);
    expect(merged.text).not.toMatch(/old|http_headers/);
    expect(mergeToml(merged.text).text).toBe(merged.text);
  });

  test.each([
    ['mcp_servers = { svc = { url = "old" } }\n', /in a way that cannot be replaced|is damaged/],
    ['mcp_servers.svc.url = "old"\n', /in a way that cannot be replaced|is damaged/],
    ['note = """\n[mcp_servers.svc]\n"""\n', /in a way that cannot be replaced|is damaged/],
    ['model = "m', /is damaged/],
    ['mcp_servers = "none"\n', /is not an object/],
  ])("leaves %j alone", (text, message) => {
    expect(() => mergeToml(text)).toThrow(message);
    expect(() => mergeToml(text)).toThrow(/config\.toml .*Nothing was changed/);
  });
});
