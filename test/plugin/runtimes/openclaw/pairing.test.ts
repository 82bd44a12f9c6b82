import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readActions } from "../../../../src/plugin/runtimes/openclaw/actions/actions-file.ts";
import { applySync } from "../../../../src/plugin/runtimes/openclaw/actions/apply-sync.ts";
import { planSync } from "../../../../src/plugin/runtimes/openclaw/actions/plan-sync.ts";
import type {
  HostAuthContext,
  HostAuthResult,
  HostUnattendedAuthContext,
} from "../../../../src/plugin/runtimes/openclaw/host/host-api.ts";
import { registerPairing } from "../../../../src/plugin/runtimes/openclaw/register-parts.ts";
import { forgetKeyOrigin, readKeyOrigin } from "../../../../src/plugin/runtimes/openclaw/setup/find-key.ts";
import { acceptKey } from "../../../../src/plugin/runtimes/openclaw/setup/pair-method.ts";
import { findFreePort } from "../../../service/free-port.ts";
import { createFakeApi } from "./fake-api.ts";
import { openPairingKit, type PairingKit, playScreen } from "./pairing-kit.ts";

let kit: PairingKit;

beforeEach(async () => {
  kit = await openPairingKit();
});

afterEach(() => kit.close());

const configured = () => kit.host({ pluginConfig: { baseUrl: kit.service.url } });

/** Every file of ours below the host's state folder, as text. */
function readState(): string {
  const files = readdirSync(kit.folder.environment.stateDir, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "utf8"))
    .join("\n");
}

describe("pairing in a sign-in screen of the host", () => {
  test("shows link and code, and hands the host a key that works with its address", async () => {
    const host = configured();
    const screen = playScreen();
    const { profiles, notes } = await kit.pair(host, screen);
    expect(screen.opened).toEqual([expect.stringContaining(`${kit.service.url}/pair/`)]);
    expect(screen.notes).toEqual([
      expect.stringMatching(/approve the device: http\S+\/pair\/\S+\nCode: \w{4}-\w{4}\./),
    ]);
    expect(profiles).toEqual([
      {
        profileId: "svc:default",
        credential: {
          type: "api_key",
          provider: "svc",
          key: expect.stringMatching(/^svc_live_/),
          metadata: { baseUrl: kit.service.url },
        },
      },
    ]);
    expect(notes?.join(" ")).toContain("openclaw svc sync");
    const key = profiles[0]?.credential.key ?? "";
    const reply = await fetch(`${kit.service.url}/api/tools`, { headers: { "x-svc-api-key": key } });
    expect(reply.status).toBe(200);
  });

  test("keeps the key to itself: only where it belongs is on the disk, and it is used nowhere else", async () => {
    const { profiles } = await kit.pair(configured(), playScreen());
    const key = profiles[0]?.credential.key ?? "";
    expect(readState()).not.toContain("svc_live_");
    expect(await readKeyOrigin(kit.host().places, key)).toMatchObject({ baseUrl: kit.service.url });
    const moved = kit.host({ storedKey: key, pluginConfig: { baseUrl: "https://elsewhere.example" } });
    await expect(moved.openAccount(undefined)).rejects.toMatchObject({ code: "credentials_missing", field: "baseUrl" });
    const same = kit.host({ storedKey: key });
    expect((await same.openAccount(undefined)).session.client.baseUrl).toBe(kit.service.url);
  });

  const readKey = ({ profiles }: HostAuthResult) => profiles[0]?.credential.key ?? "";
  const openSession = async (storedKey: string) => (await kit.host({ storedKey }).openAccount(undefined)).session;

  test("again by the same owner keeps what was synced and always allowed, also after the key was forgotten", async () => {
    const first = readKey(await kit.pair(configured(), playScreen()));
    const before = await openSession(first);
    const rule = { principal: before.principal, tool: "drive_upload_file", connection: "c1", effect: "write" } as const;
    await before.rules.allow(rule);
    const { api } = createFakeApi();
    const host = kit.host({ storedKey: first });
    await applySync(host, api, await planSync(await host.openAccount(undefined), undefined));
    await forgetKeyOrigin(host.places, first);
    const { profiles, notes } = await kit.pair(configured(), playScreen());
    const second = readKey({ profiles });
    expect(second).not.toBe(first);
    expect(notes?.join(" ")).toContain("as they were before");
    const after = await openSession(second);
    expect(after.principal).toBe(before.principal);
    expect(after.rules.list()).toMatchObject([{ tool: "drive_upload_file" }]);
    const renewed = kit.host({ storedKey: second });
    expect(readActions(renewed.places.actions)?.principal).toBe(after.principal);
    const plan = await planSync(await renewed.openAccount(undefined), readActions(renewed.places.actions));
    expect(plan).toMatchObject({ replacesAccount: false, added: [], changed: [], removed: [] });
  });

  test("again where the key reaches other accounts takes nothing over", async () => {
    const first = readKey(await kit.pair(configured(), playScreen()));
    const { connections } = kit.service.service;
    for (const { id } of await connections.list()) await connections.remove(id);
    await connections.add({ integration: "notes", label: "Another owner's", settings: {} });
    const second = readKey(await kit.pair(configured(), playScreen()));
    expect((await openSession(second)).principal).not.toBe((await openSession(first)).principal);
  });

  test("of another agent has state of its own", async () => {
    const first = readKey(await kit.pair(configured(), playScreen({ agentDir: "/agents/main" })));
    const second = readKey(await kit.pair(configured(), playScreen({ agentDir: "/agents/work" })));
    expect((await openSession(second)).principal).not.toBe((await openSession(first)).principal);
  });

  test("in a chat shows the link once and names the chat's own command", async () => {
    const screen = playScreen({ credentialOnly: true });
    const { notes } = await kit.pair(configured(), screen);
    expect(screen.links()).toHaveLength(1);
    expect(screen.notes).toEqual([expect.stringMatching(/^Approve the device on that page\.\nCode: /)]);
    expect(notes?.join(" ")).toMatch(/Next: `\/svc sync`/);
  });

  test("goes on with the same link after it was stopped between approval and exchange", async () => {
    const host = configured();
    const stop = new AbortController();
    const first = playScreen({ signal: stop.signal });
    const stopped = kit.pair(host, first, async (link) => {
      await kit.service.decide(link);
      stop.abort();
    });
    await expect(stopped).rejects.toMatchObject({ code: "aborted" });
    const second = playScreen();
    const { profiles } = await kit.pair(host, second, () => expect.unreachable("nobody has to approve again"));
    expect(profiles[0]?.credential.key).toMatch(/^svc_live_/);
    expect(second.links(), "it was approved already").toEqual([]);
    expect(readState()).not.toContain("verifier");
  });

  test("says that it was declined, and what to do", async () => {
    const screen = playScreen();
    const declined = kit.pair(configured(), screen, (link) => kit.service.decide(link, "decline"));
    await expect(declined).rejects.toMatchObject({ message: expect.stringMatching(/declined.*Start pairing again/) });
  });

  test("says how to start a service when none answers, in a chat as a note too", async () => {
    const baseUrl = `http://127.0.0.1:${await findFreePort()}`;
    const host = kit.host({ pluginConfig: { baseUrl } });
    const sentence = expect.stringMatching(
      /^No service answers at http:\S+\. Start one there with `svc serve`, .*openclaw config set plugins\.entries\.svc\.config\.baseUrl/,
    );
    const terminal = playScreen();
    await expect(kit.pair(host, terminal)).rejects.toMatchObject({ message: sentence });
    expect(terminal.notes, "the host shows what is thrown").toEqual([]);
    const chat = playScreen({ credentialOnly: true });
    await expect(kit.pair(host, chat)).rejects.toMatchObject({ message: sentence });
    expect(chat.notes).toEqual([sentence]);
  });

  test("asks for the address only where none is set and the host can ask", async () => {
    const asked = playScreen({}, () => kit.service.url);
    await kit.pair(kit.host(), asked);
    expect(asked.questions).toEqual(["Address of the svc service [http://127.0.0.1:8790]"]);
    const set = playScreen();
    await kit.pair(configured(), set);
    expect(set.questions).toEqual([]);
  });

  test("offers the address of the last pairing, and takes it in a chat", async () => {
    const { profiles } = await kit.pair(configured(), playScreen());
    const known = { storedKey: profiles[0]?.credential.key };
    const asked = playScreen();
    await kit.pair(kit.host(known), asked);
    expect(asked.questions).toEqual([`Address of the svc service [${kit.service.url}]`]);
    const chat = playScreen({ credentialOnly: true });
    await kit.pair(kit.host(known), chat);
    expect(chat.questions).toEqual([]);
  });

  test("uses the host's place for a code where it has one, and goes on without a browser", async () => {
    const codes: unknown[] = [];
    const { prompter } = playScreen().context;
    const screen = playScreen({
      openUrl: () => Promise.reject(new Error("no browser")),
      prompter: { ...prompter, deviceCode: async (code) => void codes.push(code) },
    });
    const link = () => /http\S+\/pair\/\S+/.exec(JSON.stringify(codes))?.[0]?.replace(/\\n.*/s, "") ?? "";
    await kit.pair(configured(), screen, () => kit.service.decide(link()));
    expect(codes).toEqual([
      expect.objectContaining({ code: expect.stringMatching(/^\w{4}-\w{4}$/), expiresInMinutes: 15 }),
    ]);
  });

  test("ends when the host can show nothing, with the host's own reason", async () => {
    const { prompter } = playScreen().context;
    const screen = playScreen({ prompter: { ...prompter, note: () => Promise.reject(new Error("the chat is gone")) } });
    await expect(kit.pair(configured(), screen, () => undefined)).rejects.toThrow("the chat is gone");
  });

  test("leaves nothing when whoever started it may not go on", async () => {
    const screen = playScreen({
      assertCurrent: () => {
        throw new Error("not the owner any more");
      },
    } satisfies Partial<HostAuthContext>);
    await expect(kit.pair(configured(), screen)).rejects.toThrow("not the owner any more");
    expect(readdirSync(kit.folder.environment.stateDir, { recursive: true })).not.toContain("svc/key-origins.json");
  });

  test("is one provider with one method, and touches nothing before it runs", () => {
    const { api, recorded } = createFakeApi({ mode: "cli-metadata" });
    registerPairing(api, kit.host());
    expect(recorded.providers).toMatchObject([
      { id: "svc", envVars: ["SVC_API_KEY"], auth: [{ id: "pair", kind: "device_code" }] },
    ]);
    expect(recorded.runtimeReads).toBe(0);
  });
});

describe("a sign-in without a human", () => {
  const unattended = (key: string | null) => {
    const errors: string[] = [];
    const context: HostUnattendedAuthContext = {
      config: {},
      runtime: { error: (line) => void errors.push(line) },
      resolveApiKey: async ({ envVar }) => (key === null || envVar !== "SVC_API_KEY" ? null : { key, source: "env" }),
    };
    return { context, errors };
  };

  test("refuses a key the service does not accept, without showing it", async () => {
    const { context, errors } = unattended("svc_live_revoked");
    expect(await acceptKey(configured(), context)).toBeNull();
    expect(errors).toEqual([expect.stringMatching(/^(?!.*svc_live_).*does not accept this key.*openclaw svc pair/)]);
  });

  test("says how to start a service when none answers", async () => {
    const { context, errors } = unattended("svc_live_any");
    const host = kit.host({ pluginConfig: { baseUrl: `http://127.0.0.1:${await findFreePort()}` } });
    expect(await acceptKey(host, context)).toBeNull();
    expect(errors).toEqual([expect.stringMatching(/svc serve/)]);
  });

  test("leaves it to the host to say that there is no key", async () => {
    const { context, errors } = unattended(null);
    expect(await acceptKey(configured(), context)).toBeNull();
    expect(errors).toEqual([]);
  });
});
