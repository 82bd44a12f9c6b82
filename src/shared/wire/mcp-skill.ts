import { sha256Hex } from "../base/hash.ts";

/** Identifier of the MCP extension by which a server gives skills to its clients (SEP-2640). */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** A file of a skill, as a resource. */
interface SkillFile {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: "text/markdown";
  readonly text: string;
}

/** A skill as MCP serves it. */
export interface McpSkill {
  /** As `skills/list` and `skills/get` give it: the front matter, and every file with its digest. */
  readonly entry: {
    readonly uri: string;
    readonly frontmatter: SkillFrontMatter;
    readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
  };
  /** `SKILL.md` first. */
  readonly files: readonly SkillFile[];
}

/** Fields of the Agent Skills format that are texts. */
type SkillFrontMatter = Readonly<Record<string, string>> & { readonly name: string; readonly description: string };

/** `body` is what `SKILL.md` says below its front matter; `more` are the files beside it, by their paths. */
export function createSkill(
  frontmatter: SkillFrontMatter,
  body: string,
  more: Readonly<Record<string, { readonly description: string; readonly text: string }>> = {},
): McpSkill {
  const { name, description } = frontmatter;
  const address = (path: string) => `skill://${name}/${path}`;
  // JSON text is YAML too.
  const lines = Object.entries(frontmatter).map(([field, value]) => `${field}: ${JSON.stringify(value)}`);
  const text = ["---", ...lines, "---", "", body].join("\n");
  const main: SkillFile = { uri: address("SKILL.md"), name, description, mimeType: "text/markdown", text };
  const others = Object.entries(more).map(
    ([path, file]): SkillFile => ({ uri: address(path), name: path, mimeType: "text/markdown", ...file }),
  );
  const files = [main, ...others];
  const resources = files.map((file) => ({
    uri: file.uri,
    digest: `sha256:${sha256Hex(file.text)}`,
    size: Buffer.byteLength(file.text),
  }));
  return { entry: { uri: main.uri, frontmatter, resources }, files };
}

/** The skill whose `SKILL.md` has this address. */
export function findSkill(skills: readonly McpSkill[], uri: unknown): McpSkill["entry"] | undefined {
  return skills.find(({ entry }) => entry.uri === uri)?.entry;
}
