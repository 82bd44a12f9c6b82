import { readFile } from "node:fs/promises";
import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { makeOnce } from "../../../shared/base/concurrency.ts";
import { APPROVAL_PAGE, APPROVAL_PAGE_META } from "../../../shared/card/approval-app.ts";
import { APP_TYPE, APPROVAL_APP } from "../../../shared/wire/mcp-app.ts";
import { createSkill, findSkill, type McpSkill } from "../../../shared/wire/mcp-skill.ts";

/** Resources change only with the program. */
const CACHE = { ttlMs: 300_000, cacheScope: "public" } as const;

const frontMatterSchema = z.object({ name: z.string(), description: z.string(), license: z.string() });

/** Beside the sources, and beside the built files. */
const SKILL = new URL(
  `${import.meta.url.endsWith(".ts") ? "../../../../" : "../"}skills/svc/SKILL.md`,
  import.meta.url,
);

/** The package's own skill, without the fields that are for one host alone: they are no texts, as the format asks. */
const readSkill = makeOnce(async (): Promise<McpSkill> => {
  const { parse } = await import("yaml");
  const [, written = "", body = ""] = /^---\n(.*?)\n---\n\n(.*)$/s.exec(await readFile(SKILL, "utf8")) ?? [];
  return createSkill(frontMatterSchema.parse(parse(written)), body);
});

const PAGE = {
  uri: APPROVAL_APP,
  name: "approval",
  description: "Page that shows a call which waits for its owner.",
  mimeType: APP_TYPE,
  text: APPROVAL_PAGE,
  _meta: APPROVAL_PAGE_META,
};

/** Serves the skill, by the methods of the Skills extension and as resources for every other client, and the page of the card. */
export function serveResources(server: Server): void {
  server.setRequestHandler("resources/list", async () => {
    const { files } = await readSkill();
    return { resources: [...files, PAGE].map(({ text: _, ...resource }) => resource) };
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const { files } = await readSkill();
    const found = [...files, PAGE].find((file) => file.uri === uri);
    if (found === undefined) throw unknownResource(uri);
    const { name: _name, description: _description, ...content } = found;
    return { contents: [content] };
  });
  server.setRequestHandler("skills/list", { params: z.looseObject({}) }, async () => {
    const { entry } = await readSkill();
    return { resultType: "complete", skills: [entry], ...CACHE };
  });
  server.setRequestHandler("skills/get", { params: z.looseObject({ uri: z.string() }) }, async ({ uri }) => {
    const skill = findSkill([await readSkill()], uri);
    if (skill === undefined) throw unknownResource(uri);
    return { resultType: "complete", skill, ...CACHE };
  });
}

function unknownResource(uri: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such resource.", { uri });
}
