import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { closeAll, closeLater, makeFolder } from "../../calls/open-test-session.ts";

/** Every block of docs/langchain.md is run and prints what the guide says. */

const ROOT = new URL("../../../", import.meta.url);
const DOOR = new URL("src/langchain.ts", ROOT).href;

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

interface GuideBlock {
  readonly line: number;
  readonly code: string;
  readonly prints: string;
}

function readBlocks(): GuideBlock[] {
  const text = readFileSync(new URL("docs/langchain.md", ROOT), "utf8");
  const fences = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return fences.flatMap((fence, index) => {
    const [, language, code = ""] = fence;
    if (language !== "js") return [];
    const [, next, prints = ""] = fences[index + 1] ?? [];
    const line = text.slice(0, fence.index).split("\n").length;
    if (next !== "text") throw new Error(`Line ${line}: no text block says what this prints.`);
    return [{ line, code, prints }];
  });
}

describe("docs/langchain.md", () => {
  it("has blocks", () => expect(readBlocks()).toHaveLength(6));

  it.each(readBlocks())("line $line prints what it says", async ({ code, prints }) => {
    const [folder, stateDir] = [await makeFolder(), await makeFolder()];
    await writeFile(join(folder, "only-here.txt"), "x");
    const connection = { integration: "drive", label: "Second", settings: { folder } };
    const second = await service.service.connections.add(connection);
    const source = code.replace('"svc-agent-plugin/langchain"', JSON.stringify(DOOR));
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source], {
      cwd: ROOT,
      env: { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey, SVC_STATE: stateDir, SECOND_DRIVE: second.id },
    });
    expect(stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…")).toBe(prints);
  });
});
