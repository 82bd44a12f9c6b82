import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestService } from "../../src/testing.ts";
import { call, execute } from "../service/http-calls.ts";
import { readFences, readPage } from "./read-page.ts";
import { signIntegration } from "./undo-example.ts";

/** docs/undo.md: its app is a file of the tests, which runs here. */

test("the app of the page is the one that runs here", () => {
  const own = readFileSync(new URL("undo-example.ts", import.meta.url), "utf8");
  const code = readFences("docs/undo.md").find(({ language }) => language === "ts")?.code;
  expect(code).toBe(own.replace('"../../src/service.ts"', '"svc-agent-plugin/service"'));
});

test("the app of the page takes its change back, and not what came later", async () => {
  const service = await startTestService({ integrations: [signIntegration] });
  try {
    const file = join(service.dataDir, "sign.txt");
    await writeFile(file, "Open\n");
    await service.service.connections.add({ integration: "sign", label: "Hall", settings: { file } });
    const write = async (text: string) =>
      (await execute(service, "sign_write", { arguments: { text }, confirmed: true })).json.canonical.execution_id;
    const undo = (id: string) =>
      call(`${service.url}/api/executions/${id}/undo`, {
        method: "POST",
        key: service.apiKey,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ confirmed: true }),
      });
    expect((await undo(await write("Closed\n"))).json.result.written).toBe("Open\n");
    expect(await readFile(file, "utf8")).toBe("Open\n");
    const id = await write("Closed\n");
    await writeFile(file, "On fire\n");
    expect((await undo(id)).json.error).toMatchObject({ code: "undo_unavailable" });
    expect(await readFile(file, "utf8")).toBe("On fire\n");
  } finally {
    await service.close();
  }
});

test("the page says how long and how much is kept", () => {
  const page = readPage("docs/undo.md");
  expect(page).toContain("30 days");
  expect(page).toContain("at most 8 MB");
  expect(page).toContain("15 seconds");
});
