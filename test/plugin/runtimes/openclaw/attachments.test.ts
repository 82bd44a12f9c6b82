import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderOutcome } from "../../../../src/plugin/calls/outcome.ts";
import { shareHost } from "../../../../src/plugin/runtimes/openclaw/svc-host.ts";
import { createScriptedApprover, startTestService, type TestService } from "../../../../src/testing.ts";
import {
  GOOD_ATTACHMENTS,
  HOST_SECRET,
  HOSTILE_ATTACHMENTS,
  type HostFiles,
  holdsSecret,
  RECEIVED,
  writeHostFiles,
} from "../../../fixtures/openclaw/host-files.ts";
import { type LossyProxy, startLossyProxy } from "../../calls/lossy-proxy.ts";
import { createFakeApi, createStateFolder } from "./fake-api.ts";

/** Which files of a host the plugin sends, with everything between the host's API and the wire. */

let folder: ReturnType<typeof createStateFolder>;
let workspace: ReturnType<typeof createStateFolder>;
let service: TestService;
let proxy: LossyProxy;
let files: HostFiles;

beforeAll(async () => {
  folder = createStateFolder();
  workspace = createStateFolder();
  service = await startTestService();
  proxy = await startLossyProxy(service.url);
  await writeFile(join(folder.environment.stateDir, "openclaw.json"), HOST_SECRET);
  files = await writeHostFiles(folder.environment.stateDir, workspace.environment.stateDir);
});

afterAll(async () => {
  await share().close();
  await proxy.close();
  await service.close();
  await files.remove();
  workspace.remove();
  folder.remove();
});

const share = (more: Record<string, unknown> = {}) =>
  shareHost(
    createFakeApi({ pluginConfig: { baseUrl: proxy.url, apiKey: service.apiKey, ...more } }).api,
    folder.environment,
  );

let calls = 0;

/** Saves the referenced file in the drive, by the tool itself or as a model does through `svc_call_tool`. */
async function save(reference: string, through: "tool" | "svc_call_tool") {
  calls += 1;
  const callId = `c${calls}`;
  const args = { file: { s3key: reference }, name: `saved-${calls}.txt` };
  const approve = createScriptedApprover(["approve"]);
  const { session } = await share().openAccount(undefined);
  const wrapped = session.staticTools.find(({ name }) => name === "svc_call_tool");
  const outcome =
    through === "tool" || wrapped === undefined
      ? await session.call({ callId, toolName: "drive_upload_file", arguments: args, approve })
      : await wrapped.run({ name: "drive_upload_file", arguments: args }, { callId, approve });
  return { outcome, asked: approve.requests, name: args.name };
}

describe.each(["tool", "svc_call_tool"] as const)("a file named to %s", (through) => {
  test.each(GOOD_ATTACHMENTS)("$what arrives with equal bytes", async ({ reference }) => {
    const { outcome, asked } = await save(reference(files), through);
    expect(outcome.status, renderOutcome(outcome)).toBe("succeeded");
    const sha256 = createHash("sha256").update(RECEIVED).digest("hex");
    expect(JSON.stringify(outcome)).toContain(sha256);
    expect(asked).toMatchObject([{ files: [{ name: expect.stringMatching(/^(report|chart|phone)\.txt$/) }] }]);
  });

  test.each(HOSTILE_ATTACHMENTS)("$what is refused, and no byte of it leaves", async ({ reference }) => {
    const before = proxy.passed.length;
    const effects = (await service.effects()).length;
    const { outcome, asked } = await save(reference(files), through);
    expect(outcome.status).toBe("failed");
    const said = renderOutcome(outcome);
    expect(JSON.parse(said)).toMatchObject({ message: expect.stringContaining("file"), hint: expect.any(String) });
    expect(holdsSecret(said)).toBe(false);
    expect(asked, "nobody is asked to approve it").toEqual([]);
    expect(await service.effects()).toHaveLength(effects);
    const sent = proxy.passed.slice(before);
    expect(sent.filter(({ path }) => path.endsWith("/execute"))).toEqual([]);
    expect(sent.some(({ body }) => holdsSecret(body))).toBe(false);
  });
});

test("the search for the secret finds it, however it is shifted", () => {
  for (const shift of [0, 1, 2, 3]) {
    const text = "x".repeat(shift) + HOST_SECRET;
    expect(holdsSecret(text)).toBe(true);
    expect(holdsSecret(`"dataBase64":"${Buffer.from(text).toString("base64")}"`)).toBe(true);
  }
});

describe("a folder that a human configures", () => {
  test.each([
    ["the state folder", "."],
    ["a folder above it", ".."],
    ["the folder of this plugin", "svc"],
    ["the folder of the agents", "agents"],
    ["the host's credentials", "credentials"],
  ])("%s is refused with its name", async (_what, place) => {
    const root = join(folder.environment.stateDir, place);
    const refusal = await share({ mediaRoots: [root] })
      .openAccount(undefined)
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "invalid_config", field: "mediaRoots" });
  });

  test("a workspace may be one, and then its files are sent", async () => {
    share({ mediaRoots: [files.workspace] });
    const approve = createScriptedApprover(["approve"]);
    const account = await share({ mediaRoots: [files.workspace] }).openAccount(undefined);
    const args = { file: { s3key: join(files.workspace, "notes.txt") }, name: "notes.txt" };
    const call = { callId: "w1", toolName: "drive_upload_file", arguments: args, approve };
    expect((await account.session.call(call)).status).toBe("succeeded");
    share();
  });
});
