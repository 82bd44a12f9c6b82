import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { QUICKEST_PERSON_MS } from "../../../../src/shared/wire/form-answer.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { decideHeld } from "../../../service/approvals/owner.ts";
import {
  CLIENTS,
  type ClientOptions,
  connectClient,
  connectHere,
  makeHome,
  svcMcp,
  type TestClient,
} from "./mcp-client.ts";

/** `svc mcp` with the official clients. */

let service: TestService;
let place: Awaited<ReturnType<typeof makeHome>>;
const clients: TestClient[] = [];

async function start(approvals: "owner" | "device") {
  service = await startTestService({ approvals });
}
beforeEach(async () => {
  place = await makeHome();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await service.close();
  await place.remove();
});

/** The newest client starts a process; the others speak to the same server in this one. */
async function connect(options: ClientOptions = {}): Promise<TestClient> {
  const client =
    options.kind === CLIENTS[0]
      ? await connectClient(svcMcp(place.home, service), options)
      : await connectHere(place.home, service, options);
  clients.push(client);
  return client;
}

const page = { title: "Milk", body: "2 l" };
const createPage = { name: "notes_create_page", arguments: page };

test("all tools are listed while a model reads them within the budget, and none beyond it", async () => {
  await start("device");
  const list = async (maxToolTokens: number) => {
    const client = await connectHere(place.home, service, { maxToolTokens });
    clients.push(client);
    return (await client.listTools()).map(({ name }) => name);
  };
  const listed = await fetch(`${service.url}/api/tools`, { headers: { "x-svc-api-key": service.apiKey } });
  const { tools } = (await listed.json()) as { tools: { name: string }[] };
  const fixed = await list(0);
  expect(await list(100_000)).toEqual([...fixed, ...tools.map(({ name }) => name).sort()]);
  expect(await list(1_000)).toEqual(fixed);
});

describe.each(CLIENTS)("client %s", (kind) => {
  test("finds, describes and calls tools, and gets those it has described under their own names", async () => {
    await start("device");
    const client = await connect({ kind });
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toContain("svc_call_tool");
    expect(names).not.toContain("notes_search");
    const found = await client.call("svc_search_tools", { query: "search my notes" });
    expect(JSON.stringify(found)).toContain("notes_search");
    await client.call("svc_describe_tool", { name: "notes_search" });
    const listed = (await client.listTools()).find(({ name }) => name === "notes_search");
    expect(listed?.annotations).toEqual({ readOnlyHint: true });
    await expect.poll(client.changes).toBe(1);
    const read = await client.call("notes_search", { query: "milk" });
    expect(read).toMatchObject({ isError: false, status: "succeeded", tool: "notes_search" });
  });

  test("a form with the whole card approves exactly one call, or declines it with a reason", async () => {
    await start("device");
    const answers = [
      { action: "accept" as const, content: { approve: true } },
      { action: "accept" as const, content: { approve: false, reason: "Not today." } },
      { action: "decline" as const },
    ];
    const client = await connectHere(place.home, service, {
      kind,
      human: () => answers.shift() ?? { action: "cancel" },
    });
    clients.push(client);
    expect(await client.call("svc_call_tool", createPage)).toMatchObject({ status: "succeeded" });
    expect(client.shown[0]?.message).toMatch(
      /^```.*In short {2}│ Create the page "Milk".*As sent {3}│ title: Milk.*Approve\?/s,
    );
    const declined = await client.call("svc_call_tool", createPage);
    expect(declined).toMatchObject({ isError: true, status: "declined" });
    expect(declined.message).toContain("Not today.");
    expect(await client.call("svc_call_tool", createPage)).toMatchObject({ status: "declined" });
    expect(await client.call("svc_call_tool", createPage)).toMatchObject({ status: "declined" });
    expect(client.shown).toHaveLength(4);
    expect(await service.effects()).toHaveLength(1);
  });

  test("a client that answers a form without its human has declined nothing", async () => {
    await start("device");
    const late = { action: "accept" as const };
    const slow = [
      late,
      { ...late, content: null },
      { ...late, content: {} },
      { ...late, content: { approve: "true" } },
    ];
    const quick = [
      { action: "decline" as const },
      { action: "cancel" as const },
      { ...late, content: { approve: false } },
    ];
    for (const [answers, answersAfterMs] of [
      [slow, 60_000],
      [quick, QUICKEST_PERSON_MS - 1],
    ] as const) {
      // The newest client does not even send a content that is null.
      for (const answer of answers.filter(
        (one) => kind !== CLIENTS[0] || !("content" in one && one.content === null),
      )) {
        const client = await connectHere(place.home, service, { kind, answersAfterMs, human: () => answer });
        clients.push(client);
        const told = await client.call("svc_call_tool", createPage);
        expect(told, JSON.stringify(answer)).toMatchObject({ isError: true, status: "needs_approval" });
        expect(told.hint).toMatch(/without showing it to anybody.*Nobody has declined.*inbox of the service/s);
        expect(JSON.stringify(told)).not.toContain("The user declined");
        expect(client.shown).toHaveLength(1);
      }
    }
    expect(await service.effects()).toEqual([]);
  });

  test("a local file of 20 MB waits in the inbox with its link, and its result is the call's", async () => {
    await start("owner");
    const file = join(place.media, "film.bin");
    await writeFile(file, Buffer.alloc(20_000_000, "film"));
    const client = await connect({ kind, human: () => ({ action: "accept", content: { approve: true } }) });
    const told: string[] = [];
    const call = client.call(
      "svc_call_tool",
      { name: "drive_upload_file", arguments: { file: { s3key: file }, folder: "Letters", confirmed: true } },
      { onprogress: ({ message }) => told.push(message ?? "") },
    );
    await expect.poll(() => told.at(-1), { timeout: 20_000 }).toMatch(/Waiting for the owner of the service: http/);
    expect(told[0]).toBe("Sending drive_upload_file");
    const [id = ""] = /apr_\w+/.exec(told.at(-1) ?? "") ?? [];
    expect(await service.effects()).toEqual([]);
    await decideHeld(service, id, "approve");
    expect(await call).toMatchObject({ status: "succeeded", result: { path: "Letters/film.bin" } });
    expect(client.shown).toEqual([]);
    expect(await service.effects()).toHaveLength(1);
    expect((await readFile(join(service.dataDir, "drive/Letters/film.bin"))).length).toBe(20_000_000);
  });
});

test("a file outside the media folders is refused", async () => {
  await start("owner");
  const file = join(place.home, "letter.txt");
  await writeFile(file, "hello\n");
  const client = await connect();
  const refused = await client.call("svc_call_tool", {
    name: "drive_upload_file",
    arguments: { file: { s3key: file } },
  });
  expect(refused).toMatchObject({ isError: true, status: "failed", code: "outside_roots" });
});

test("an app that is not connected: its link is opened, and the call goes on once it is connected", async () => {
  await start("device");
  const [drive] = await service.service.connections.list("drive");
  const { label = "", settings = {} } = drive ?? {};
  await service.service.connections.remove(drive?.id ?? "");
  const client = await connect({
    canOpenLinks: true,
    human: async () => {
      await service.service.connections.add({ integration: "drive", label, settings });
      return { action: "accept" };
    },
  });
  const listed = await client.call("svc_call_tool", { name: "drive_search_files", arguments: { query: "a" } });
  expect(listed, client.stderr()).toMatchObject({ status: "succeeded" });
  expect(client.shown).toMatchObject([{ url: `${service.url}/connect/drive` }]);
  const plain = await connect();
  await service.service.connections.remove((await service.service.connections.list("drive"))[0]?.id ?? "");
  expect(await plain.call("svc_call_tool", { name: "drive_search_files", arguments: { query: "a" } })).toMatchObject({
    status: "needs_connection",
    connect_url: `${service.url}/connect/drive`,
  });
});

test("a service that is away is an answer, not the end of the server", async () => {
  await start("device");
  await service.close();
  const client = await connect();
  expect(await client.listTools()).toHaveLength(11);
  expect(await client.call("svc_search_tools", { query: "mail" })).toMatchObject({ isError: true, status: "failed" });
  await expect.poll(client.stderr, { timeout: 20_000 }).toContain("svc: The list of tools could not be read");
});
