import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { makeHome, svcMcp } from "./mcp-client.ts";

/** The skill as MCP clients get it, read and verified by the official client of the Skills extension. */

let service: TestService;
let place: Awaited<ReturnType<typeof makeHome>>;
let client: Client;
beforeEach(async () => {
  service = await startTestService();
  place = await makeHome();
});
afterEach(async () => {
  await client.close();
  await service.close();
  await place.remove();
});

async function connect(door: string, mode: "auto" | "legacy"): Promise<SkillsClient> {
  client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { "x-svc-api-key": service.apiKey } };
  await client.connect(
    door === "svc mcp"
      ? new StdioClientTransport(svcMcp(place.home, service))
      : new StreamableHTTPClientTransport(new URL(`${service.url}/api/mcp`), { requestInit }),
  );
  return new SkillsClient(client, { parseFrontmatter: (text) => parse(text) });
}

describe.each([
  ["/api/mcp", "auto"],
  ["/api/mcp", "legacy"],
  ["svc mcp", "auto"],
  ["svc mcp", "legacy"],
] as const)("%s, %s", (door, mode) => {
  test("gives its skill, whole and as its entry says, and a resource for clients without the extension", async () => {
    const skills = await connect(door, mode);
    expect(skills.supported).toBe(true);
    const { skills: listed } = await skills.list();
    expect(listed.map(({ uri }) => uri)).toEqual(["skill://svc/SKILL.md"]);
    const { skill } = await skills.get("skill://svc/SKILL.md");
    expect(skill).toEqual(listed[0]);
    const resources = Array.isArray(skill.resources) ? skill.resources : [];
    const texts: string[] = [];
    for (const { uri } of resources) {
      const file = await skills.read(skill, uri);
      expect(file.verified).toBe(true);
      texts.push(file.text ?? "");
    }
    // Every file that the text points to is there, and so is every tool.
    for (const [, path] of texts.join().matchAll(/\b(references\/[\w-]+\.md)/g)) {
      expect(resources.map(({ uri }) => uri)).toContain(`skill://svc/${path}`);
    }
    const { tools } = await client.listTools();
    const named = [...texts.join().matchAll(/`(svc[._][a-z_]+)`/g)].map(([, name]) => name);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
    expect(named.length).toBeGreaterThan(4);
    const plain = await client.listResources();
    expect(plain.resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(resources.map(({ uri }) => uri)));
  });

  test("refuses a skill that it does not have", async () => {
    const skills = await connect(door, mode);
    await expect(skills.get("skill://other/SKILL.md")).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: "skill://svc/../../package.json" })).rejects.toThrow();
  });
});
