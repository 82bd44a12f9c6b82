import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { readTable } from "./read-page.ts";
import { readSearchAnswers, readToolSurfaces } from "./tool-surfaces.ts";

const PAGE = "docs/performance.md";
let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

test("docs/performance.md says what a session costs a model; `npm run bench:surfaces` prints the table", async () => {
  const real = (await readToolSurfaces(service)).map(({ name, tools, instructions }) => {
    return [name, String(tools.length), (JSON.stringify(tools).length + instructions.length).toLocaleString("en")];
  });
  const said = readTable(PAGE, "What a session costs a model");
  expect(said.map((row) => row.slice(0, 3))).toEqual(real);
  for (const [name = "", , , tokens = ""] of said.filter(
    ([name]) => name?.includes("mcp") || name?.startsWith("MCP"),
  )) {
    expect(Number(tokens.replaceAll(",", "")), name).toBeLessThanOrEqual(1_200);
  }
});

test("a search tells a model of each tool in some 60 tokens, at four characters each", async () => {
  for (const answers of Object.values(await readSearchAnswers(service))) {
    for (const { text, count } of answers) {
      expect(count).toBe(10);
      expect(text.length / count).toBeLessThanOrEqual(240);
    }
  }
});
