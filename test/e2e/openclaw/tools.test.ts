import { afterAll, describe, expect, test } from "vitest";
import { patchConfig } from "./host/through-reload.ts";
import { useHost } from "./host/use-host.ts";

const host = useHost();

/** What the model is told and given in a fresh session. */
async function lookAtPrompt(sessionKey: string) {
  const { model, operator } = host();
  model.playTurn("Nothing.");
  await (await operator.chat("What can you do?", { sessionKey })).done;
  const prompt = model.requests.at(-1);
  if (prompt === undefined) throw new Error("The model was not asked.");
  return prompt;
}

describe("the agent", () => {
  test("is given the search, describe and call tools, and sees the action tools in its directory", async () => {
    const { tools, raw } = await lookAtPrompt("directory");
    expect(tools).toEqual(expect.arrayContaining(["svc_search_tools", "svc_describe_tool", "svc_call_tool"]));
    expect(raw).toMatch(/- mail_search \(svc-actions\)/);
    expect(raw).toMatch(/- drive_upload_file \(svc-actions\)/);
  });

  test("finds an action tool by searching, is shown its schema, and calls it", async () => {
    const { model, operator } = host();
    model.playTurn(
      { tool: "tool_search", args: { query: "find files in the drive by name" } },
      { tool: "tool_describe", args: { id: "drive_search_files" } },
      { tool: "drive_list_files", args: {} },
      "Done.",
    );
    const turn = await operator.chat("Look into my drive.", { sessionKey: "search" });
    expect(await turn.done).toBe("Done.");
    const [found, described, listed] = model.requests.at(-1)?.results ?? [];
    expect(found).toContain("drive_search_files");
    expect(described).toContain('"query"');
    expect(listed).toMatch(/\bsucceeded\b/);
  });

  test("is told what is wrong with arguments that do not fit the schema", async () => {
    const { model, operator } = host();
    model.playTurn({ tool: "mail_search", args: { limit: "many" } }, "Sorry.");
    await (await operator.chat("Search.", { sessionKey: "bad-arguments" })).done;
    expect(model.requests.at(-1)?.results[0]).toMatch(/limit/);
  });
});

describe.each(["coding", "full"])("under the profile %s", (profile) => {
  /** The other files find no profile set. */
  afterAll(async () => {
    await patchConfig(host(), { tools: null }, "tools");
  });

  test("the agent has the same tools", async () => {
    const { state, invoke } = host();
    await patchConfig(host(), { tools: { profile } }, "tools");
    const { tools, raw } = await lookAtPrompt(`profile-${profile}`);
    expect(tools).toEqual(expect.arrayContaining(["svc_search_tools", "svc_call_tool"]));
    expect(raw).toContain("drive_upload_file");
    expect(await invoke("drive_list_files")).toMatchObject({ status: 200 });
    expect(state.port).toBeGreaterThan(0);
  }, 300_000);
});

describe("over HTTP", () => {
  test("a read runs at once", async () => {
    const { invoke, service } = host();
    const read = await invoke("probe_echo", { text: "hello" });
    expect(read).toMatchObject({ status: 200, details: { status: "ok" } });
    expect(read.text).toContain("hello");
    expect(service.probe.calls.at(-1)).toMatchObject({ action: "echo", args: { text: "hello" } });
    expect(await invoke("svc_call_tool", { name: "probe_echo", arguments: { text: "again" } })).toMatchObject({
      status: 200,
      details: { status: "ok" },
    });
  });

  test("a write waits for a person and runs once", async () => {
    const { invoke, service, operator } = host();
    const before = (await service.effects()).length;
    const answer = invoke("drive_create_folder", { path: "From HTTP" });
    const card = await operator.answerCard("allow-once");
    expect(card).toMatchObject({ toolName: "drive_create_folder", severity: "warning" });
    expect(await answer).toMatchObject({ status: 200, details: { status: "ok" } });
    expect((await service.effects()).slice(before)).toMatchObject([{ toolName: "drive_create_folder" }]);
  });

  test("a declined write does not run", async () => {
    const { invoke, service, operator } = host();
    const before = await service.effects();
    const answer = invoke("drive_create_folder", { path: "Never" });
    await operator.answerCard("deny");
    expect(await answer).toMatchObject({ status: 403 });
    expect(await service.effects()).toEqual(before);
  });

  test("bad arguments are explained", async () => {
    const { invoke } = host();
    const { text, details } = await invoke("mail_search", { limit: "many" });
    expect(details).toMatchObject({ status: "failed" });
    expect(text).toMatch(/limit/);
  });
});
