import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useHost } from "./host/use-host.ts";

/** Questions from within a call in the real host: which account, and an app that must be connected. */

const host = useHost();
interface Asked {
  readonly id: string;
  readonly questions: readonly {
    readonly questionId: string;
    readonly url?: string;
    readonly question: string;
    readonly options: readonly { readonly label: string }[];
  }[];
}

async function takeQuestion(): Promise<Asked> {
  return (await host().operator.take("question.requested")) as unknown as Asked;
}

async function answer(asked: Asked, answers: Record<string, string[]>): Promise<void> {
  await host().operator.request("question.resolve", { id: asked.id, answers: { answers } });
}

/** One turn with one call; what it gave the model. */
async function play(sessionKey: string, call: { tool: string; args: object }, act: () => Promise<unknown>) {
  const { model, operator } = host();
  model.playTurn(call, "Done.");
  const turn = await operator.chat("Go on.", { sessionKey });
  await act();
  await turn.done;
  return model.requests.at(-1)?.results.at(-1) ?? "";
}

const callsWith = (text: string) => host().service.probe.calls.filter(({ args }) => args.text === text);

describe("several accounts", () => {
  const added: string[] = [];

  beforeAll(async () => {
    const { connections } = host().service.service;
    for (const label of ["Second", "Third"]) {
      added.push((await connections.add({ integration: "probe", label, settings: {} })).id);
    }
  });
  afterAll(async () => {
    for (const id of added) await host().service.service.connections.remove(id);
    // The gateway goes on with other files, and is to know of the one account.
    expect(await host().invoke("probe_echo", { text: "one again" })).toMatchObject({
      details: { outcome: "succeeded" },
    });
  });

  test("are asked about once, and the call runs with the chosen one", async () => {
    const result = await play("several-accounts", { tool: "probe_echo", args: { text: "third" } }, async () => {
      const asked = await takeQuestion();
      expect(asked.questions).toMatchObject([{ header: "Account", isOther: true, options: { length: 3 } }]);
      await answer(asked, { account: ["Third"] });
    });
    expect(result).toContain("succeeded");
    expect(callsWith("third")).toMatchObject([{ connection: "Third" }]);
  });

  test("may be named in the chat", async () => {
    const { operator } = host();
    const result = await play("typed", { tool: "probe_echo", args: { text: "typed" } }, async () => {
      await takeQuestion();
      await operator.chat("second", { sessionKey: "typed" });
    });
    expect(result).toContain("succeeded");
    expect(callsWith("typed")).toMatchObject([{ connection: "Second" }]);
  });

  test("are asked about over HTTP too", async () => {
    const reply = host().invoke("probe_echo", { text: "http choice" });
    await answer(await takeQuestion(), { account: ["Second"] });
    expect(await reply).toMatchObject({ status: 200, details: { outcome: "succeeded" } });
    expect(callsWith("http choice")).toMatchObject([{ connection: "Second" }]);
  });
});

test("an app that is not connected: the call goes on by itself once it is, and the question is taken back", async () => {
  const { service, operator } = host();
  const { connections } = service.service;
  const [account] = await connections.list("lab");
  await connections.remove(account?.id ?? "");
  const result = await play("connect", { tool: "lab_look", args: { text: "connected" } }, async () => {
    const { id, questions } = await takeQuestion();
    expect(questions[0]?.question).toContain(questions[0]?.url);
    expect(questions[0]?.url).toContain(service.url);
    await connections.add({ integration: "lab", label: "New account", settings: {}, scopes: ["lab.write"] });
    const resolved = await operator.take("question.resolved", (payload) => payload.id === id);
    expect(resolved).toMatchObject({ status: "cancelled" });
  });
  expect(result).toContain("succeeded");
  expect(service.lab.ran).toEqual(["look"]);
});

test("an app that the person does not want to sign in to now: the model gets the link and nothing runs", async () => {
  const { service } = host();
  const { connections } = service.service;
  const [account] = await connections.list("lab");
  await connections.update(account?.id ?? "", { state: "reauth_required" });
  const ran = service.lab.ran.length;
  const result = await play("not-now", { tool: "lab_look", args: { text: "not now" } }, async () =>
    answer(await takeQuestion(), { connect: ["Not now"] }),
  );
  expect(result).toContain("needs_connection");
  expect(result).toContain(service.url);
  expect(service.lab.ran).toHaveLength(ran);
});
