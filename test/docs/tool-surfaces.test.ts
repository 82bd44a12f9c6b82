import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { readTable } from "./read-page.ts";
import { readToolSurfaces } from "./tool-surfaces.ts";

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

test("docs/many-tools.md says how large every list of tools is; `npm run bench:surfaces` prints the table", async () => {
  const real = (await readToolSurfaces(service)).map(({ name, tools }) => {
    return [name, String(tools.length), JSON.stringify(tools).length.toLocaleString("en")];
  });
  const said = readTable("docs/many-tools.md", "What a list of tools costs").map((row) => row.slice(0, 3));
  expect(said).toEqual(real);
});
