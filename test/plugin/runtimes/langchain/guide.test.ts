import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { readFences } from "../../../docs/read-page.ts";
import { closeAll, closeLater, makeFolder } from "../../calls/open-test-session.ts";

/** Every block of docs/langchain.md is run and prints what the guide says. */

const ROOT = new URL("../../../../", import.meta.url);
const DOOR = new URL("src/langchain.ts", ROOT).href;

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const BLOCKS = readFences("docs/langchain.md").filter(({ language }) => language === "ts");

describe("docs/langchain.md", () => {
  it("has blocks", () => expect(BLOCKS).toHaveLength(6));

  it.each(BLOCKS)("$name prints what it says", async ({ code, prints }) => {
    const [folder, stateDir] = [await makeFolder(), await makeFolder()];
    await writeFile(join(folder, "only-here.txt"), "x");
    const connection = { integration: "drive", label: "Second", settings: { folder } };
    const second = await service.service.connections.add(connection);
    const source = code.replace('"svc-agent-plugin/langchain"', JSON.stringify(DOOR));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module-typescript", "--eval", source],
      {
        cwd: ROOT,
        env: { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey, SVC_STATE: stateDir, SECOND_DRIVE: second.id },
      },
    );
    expect(prints).not.toBe("");
    expect(stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…")).toBe(prints);
  });
});
