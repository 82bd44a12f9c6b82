import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Attachment,
  GOOD_ATTACHMENTS,
  HOSTILE_ATTACHMENTS,
  type HostFiles,
  holdsSecret,
  RECEIVED,
  writeHostFiles,
} from "../../fixtures/openclaw/host-files.ts";
import { type LossyProxy, startLossyProxy } from "../../plugin/calls/lossy-proxy.ts";
import { useHost } from "./host/use-host.ts";

/** Files between chat, model, plugin and service, with a model that names whatever it likes. */

const host = useHost();
const TOOLS = ["probe_store_file", "svc_call_tool"] as const;
const PER_TURN = 14;
const GATE = expect.objectContaining({ config: ["plugins.entries.svc.enabled"] });
const PDF = Buffer.from("%PDF-1.4\n");

let proxy: LossyProxy;
let files: HostFiles;

beforeAll(async () => {
  const { service, state, redirect } = host();
  proxy = await startLossyProxy(`http://127.0.0.1:${service.port}`);
  await redirect(Number(new URL(proxy.url).port));
  files = await writeHostFiles(state.stateDir, state.workspace);
});

afterAll(async () => {
  await files?.remove();
  await proxy?.close();
});

/** The call of a model that hands this file to an app. */
function store(through: (typeof TOOLS)[number], reference: string) {
  const args = { file: { s3key: reference } };
  return through === "svc_call_tool"
    ? { tool: through, args: { name: "probe_store_file", arguments: args } }
    : { tool: through, args };
}

const hash = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("a file that came with a message", () => {
  test.each(TOOLS)("is approved once and arrives with equal bytes through %s", async (through) => {
    const { model, operator, service } = host();
    const bytes = Buffer.concat([PDF, randomBytes(300_001 - PDF.length)]);
    let named = "";
    model.play(({ words, results }) => {
      named = /media attached: (\S+)/.exec(words)?.[1] ?? named;
      return results.length > 0 ? "Stored." : store(through, named);
    });
    const before = service.probe.calls.length;
    const attachments = [{ fileName: "report.pdf", mimeType: "application/octet-stream", bytes }];
    const turn = await operator.chat("Store this.", { sessionKey: `chat-file-${through}`, attachments });
    const card = await operator.answerCard("allow-once");
    expect(await turn.done).toBe("Stored.");
    expect(named).not.toBe("");
    expect(String(card.description)).toContain("300,001");
    expect(service.probe.calls.slice(before)).toMatchObject([{ files: [{ sha256: hash(bytes), name: "report.pdf" }] }]);
  });

  test.each(GOOD_ATTACHMENTS)("is found as $what", async ({ what, reference }) => {
    const { model, operator, service } = host();
    model.playTurn(store("svc_call_tool", reference(files)), "Stored.");
    const before = service.probe.calls.length;
    const turn = await operator.chat("Store it.", { sessionKey: `good-${what}` });
    await operator.answerCard("allow-once");
    await turn.done;
    expect(service.probe.calls.slice(before)).toMatchObject([
      { files: [{ sha256: hash(RECEIVED), name: expect.stringMatching(/^(report|chart|phone)\.txt$/) }] },
    ]);
  });

  test("does not leave when the person says no", async () => {
    const { model, operator, service } = host();
    model.playTurn(store("svc_call_tool", `media://inbound/${files.stored}`), "Not stored.");
    const [before, sent] = [service.probe.calls.length, proxy.passed.length];
    const turn = await operator.chat("Store it.", { sessionKey: "declined-file" });
    await operator.answerCard("deny");
    await turn.done;
    expect(service.probe.calls).toHaveLength(before);
    const encoded = Buffer.from(RECEIVED).toString("base64");
    expect(proxy.passed.slice(sent).some(({ body }) => body.includes(encoded))).toBe(false);
  });
});

/** The attachments in groups that one turn can try. */
function group(attachments: readonly Attachment[]): (readonly [string, readonly Attachment[]])[] {
  const count = Math.ceil(attachments.length / PER_TURN);
  return Array.from({ length: count }, (_, index) => {
    const some = attachments.slice(index * PER_TURN, (index + 1) * PER_TURN);
    return [`${some[0]?.what} and ${some.length - 1} more`, some] as const;
  });
}

describe.each(TOOLS)("a hostile model that calls %s", (through) => {
  test.each(group(HOSTILE_ATTACHMENTS))("is refused: %s", async (_name, attachments) => {
    const { model, operator, service } = host();
    model.playTurn(...attachments.map(({ reference }) => store(through, reference(files))), "Done.");
    const [sent, ran, asked] = [proxy.passed.length, service.probe.calls.length, countCards()];
    const turn = await operator.chat("Go on.", { sessionKey: `hostile-${through}-${attachments[0]?.what}` });
    expect(await turn.done).toBe("Done.");
    const results = model.requests.at(-1)?.results ?? [];
    expect(results).toHaveLength(attachments.length);
    for (const [index, result] of results.entries()) {
      const what = attachments[index]?.what;
      expect(result, what).toMatch(/\bstatus\W+failed\b/);
      expect(result, what).toMatch(/\bfile: the file (is|was|has|holds|uses|points|contains|names|goes)\b/);
      expect(holdsSecret(result)).toBe(false);
    }
    const passed = proxy.passed.slice(sent);
    expect(passed.filter(({ path }) => path.endsWith("/execute"))).toEqual([]);
    expect(passed.some(({ body }) => holdsSecret(body))).toBe(false);
    expect(service.probe.calls).toHaveLength(ran);
    expect(countCards(), "no person is asked").toBe(asked);
  });
});

function countCards(): number {
  return host().operator.events.filter(({ event }) => event === "plugin.approval.requested").length;
}

test("a file in a result is stored by the host, and its reference can be handed on", async () => {
  const { model, operator, service, state } = host();
  const bytes = Buffer.concat([PDF, randomBytes(60_000)]);
  const text = `data:application/pdf;base64,${bytes.toString("base64")}`;
  let reference = "";
  model.playTurn(
    { tool: "svc_call_tool", args: { name: "lab_look", arguments: { text } } },
    (result) => {
      reference = /media:\/\/inbound\/[\w.%-]+/.exec(result)?.[0] ?? "";
      return store("svc_call_tool", reference);
    },
    "Stored.",
  );
  const before = service.probe.calls.length;
  const turn = await operator.chat("Fetch and store.", { sessionKey: "result-file" });
  await operator.answerCard("allow-once");
  await turn.done;
  expect(service.probe.calls.slice(before)).toMatchObject([{ files: [{ sha256: hash(bytes) }] }]);
  const inbound = join(state.stateDir, "media", "inbound");
  expect(await readdir(inbound)).toContain(reference.split("/").at(-1));
  expect(await readFile(join(inbound, reference.split("/").at(-1) ?? ""))).toEqual(bytes);
  const [first] = model.requests.at(-1)?.results ?? [];
  expect(first).not.toContain(bytes.toString("base64").slice(0, 200));
});

test("the skill stands in the prompt, and the agent can read it where the prompt says", async () => {
  const { model, operator } = host();
  let place = "";
  model.play(({ raw, results }) => {
    place = /<location>([^<]*\/svc\/SKILL\.md)<\/location>/.exec(raw)?.[1] ?? "";
    return results.length > 0 ? "Read." : { tool: "read", args: { path: place } };
  });
  const turn = await operator.chat("What can you do?", { sessionKey: "skill" });
  await turn.done;
  const { raw = "", results = [] } = model.requests.at(-1) ?? {};
  expect(raw).toContain("connected apps (mail, files, notes and others) through svc");
  expect(results[0]).toContain("# svc: act on the user's apps");
  const { skills } = await operator.request("skills.status", { agentId: "main" });
  expect(skills).toContainEqual(expect.objectContaining({ name: "svc", eligible: true, requirements: GATE }));
});
