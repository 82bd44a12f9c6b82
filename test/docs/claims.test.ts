import { homedir } from "node:os";
import { relative } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findPlaces } from "../../src/cli/context.ts";
import { createApprovalCard } from "../../src/plugin/calls/ask/card.ts";
import { classifyReference } from "../../src/plugin/media/locate/classify-reference.ts";
import { SIDE_EFFECT_LEVELS } from "../../src/shared/wire/catalog.ts";
import { MAX_FILE_BYTES, MAX_REQUEST_FILE_BYTES } from "../../src/shared/wire/constants.ts";
import { startTestService } from "../../src/testing.ts";
import { readJson } from "../package/read-package.ts";
import { closeAll, closeLater } from "../plugin/calls/open-test-session.ts";
import { askAboutHello } from "./ask-about-hello.ts";
import { readFences, readPage, readTable } from "./read-page.ts";

/** Facts that the pages state, compared with the code. */

afterEach(closeAll);

const HOME = homedir();
const places = findPlaces({ HOME });

describe("docs/approvals.md", () => {
  test("shows the card that a human sees", async () => {
    const service = closeLater(await startTestService());
    const request = await askAboutHello(service);
    const shown = readFences("docs/approvals.md").find(({ code }) => code.startsWith("Approval needed\nIn short"));
    const lines = shown?.code.trimEnd().split("\n") ?? [];
    const card = createApprovalCard(request);
    expect(lines).toHaveLength(card.length);
    for (const [index, line] of lines.entries()) {
      const pattern = line.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      expect(card[index]).toMatch(new RegExp(`^${pattern.join(".+")}$`));
    }
  });
});

describe("docs/concepts.md", () => {
  const text = readPage("docs/concepts.md");

  test("counts the static tools and names the effects", () => {
    const { tools } = readJson("plugin.manifest.json") as { tools: { static: string[] } };
    expect(tools.static).toHaveLength(11);
    expect(text).toContain("one of the eleven `svc_…` tools");
    expect(text).toContain(SIDE_EFFECT_LEVELS.map((level) => `\`${level}\``).join(", "));
  });

  test("names the folders of the command line", () => {
    const said = readTable("docs/concepts.md", "Files on your machine").map(([, folder = ""]) => folder);
    const real = [places.config, places.state, places.cache, places.media, places.service];
    const shown = real.map((folder) => `~/${relative(HOME, folder)}`);
    expect(said.map((folder) => folder.split(",")[0])).toEqual(shown);
  });
});

describe("docs/files.md", () => {
  test("names references as the code takes them", () => {
    const kinds = readTable("docs/files.md", "How a file is named").map(([references = ""]) =>
      references.split(", ").map(classifyReference),
    );
    expect(kinds.slice(0, 5).flat()).toEqual(["local", "local", "local", "local", "local", "local", "url"]);
  });

  test("has the limits of the code", () => {
    const limits = readTable("docs/files.md", "What is refused").map(([, value]) => value);
    const say = (bytes: number) => `${bytes / 2 ** 20} MB (${bytes.toLocaleString("en-GB")} bytes)`;
    expect(limits).toEqual([say(MAX_FILE_BYTES), say(MAX_REQUEST_FILE_BYTES)]);
  });

  test("names the folder that files may come from by default", () => {
    const [row] = readTable("docs/files.md", "Where it may lie");
    expect(row?.[1]).toBe(`~/${relative(HOME, places.media)}`);
  });
});
