import { Validator } from "@cfworker/json-schema";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";
import type { TestService } from "../../../src/testing.ts";
import { call, execute, type Reply } from "../../service/http-calls.ts";
import { DOCUMENTED_ANSWERS, type ProviderFault, RETRY_AFTER_SECONDS } from "./provider-faults.ts";

/** One call of an app: the action's id, and arguments that are valid. */
interface ContractCall {
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** An app that is connected once in a running service, with its provider at hand. */
export interface ContractSubject {
  readonly service: TestService;
  readonly slug: string;
  /** Runs without a confirmation. */
  readonly read: ContractCall;
  /** Needs a confirmation; each call has one effect more. */
  readonly write: ContractCall;
  /** How many writes have reached the provider so far. */
  countEffects(): Promise<number>;
  /** Settings with which the connection cannot work; left out for an app that has none. */
  readonly badSettings?: Readonly<Record<string, unknown>>;
  /** Makes the provider behave like this from now on; needed for every fault the contract names. */
  meet?(fault: ProviderFault): Promise<void>;
  /** Makes the provider well again. */
  recover?(): Promise<void>;
  close(): Promise<void>;
}

/** What is different for one kind of app. */
export interface ContractScope {
  /** Faults its provider can have; default none, for an app that asks nobody. */
  readonly faults?: readonly ProviderFault[];
  /** Calls that are made during each fault; default both, less where reading and writing are not for the same provider. */
  readonly sides?: readonly ("read" | "write")[];
}

/**
 * The contract of every app, built in or added: what it offers can be listed, described and checked; a read runs, a
 * write has one effect and only after a confirmation; and each failure of its provider becomes the documented status,
 * code, hint and state of the connection.
 *
 * @param setUp starts the service with the app; called once. For the fault "never answers" the service needs a short
 * `providerTimeoutMs`.
 */
export function describeIntegrationContract(
  name: string,
  setUp: () => Promise<ContractSubject>,
  { faults = [], sides = ["read", "write"] }: ContractScope = {},
): void {
  describe(`the contract of an app: ${name}`, () => {
    let subject: ContractSubject;
    beforeAll(async () => {
      subject = await setUp();
    }, 60_000);
    afterAll(() => subject?.close());
    afterEach(async () => {
      await subject.recover?.();
      const { id } = await findConnection(subject);
      await subject.service.service.connections.update(id, { state: "healthy" });
    });

    describeOffer(() => subject);
    describeCalls(() => subject);
    describeConnection(() => subject);
    test.each(faults.flatMap((fault) => sides.map((side) => [fault, side] as const)))(
      "a provider that %s, asked to %s, becomes what the document says",
      (fault, side) => expectDocumented(subject, fault, side),
      60_000,
    );
  });
}

function describeOffer(subject: () => ContractSubject): void {
  test("every action is listed and described, with a name and a schema that clients can use", async () => {
    const { service, slug } = subject();
    const get = (path: string) => call(`${service.url}${path}`, { key: service.apiKey });
    const { tools } = (await get(`/api/tools?integration=${slug}&limit=200`)).json;
    expect(tools.length).toBeGreaterThan(0);
    for (const { name } of tools as { name: string }[]) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      const { tool } = (await get(`/api/tools/${encodeURIComponent(name)}`)).json;
      expect(tool.inputSchema).toMatchObject({ type: "object" });
      // Both validators that meet the schema: of the service, and of the plugin.
      expect(() => new Validator(tool.inputSchema, "2020-12").validate({})).not.toThrow();
      expect(createArgumentGuard(tool.inputSchema)({}).problems.length).toBeLessThanOrEqual(6);
    }
  });

  test("arguments that do not fit are refused before anything happens", async () => {
    const { write } = subject();
    const before = await subject().countEffects();
    const refused = await run(subject(), { ...write, args: { "not an argument": [] } }, true);
    expect(readAnswer(refused)).toBe("400 invalid_arguments");
    expect(await subject().countEffects()).toBe(before);
  });
}

function describeCalls(subject: () => ContractSubject): void {
  test("a read runs at once", async () => {
    const reply = await run(subject(), subject().read);
    expect(reply.json, reply.text).toMatchObject({ ok: true });
    expect(reply.json.result).toBeDefined();
  });

  test("a write waits for a confirmation, and then has one effect", async () => {
    const before = await subject().countEffects();
    const asked = await run(subject(), subject().write);
    expect(readAnswer(asked)).toBe("412 confirmation_required");
    expect(await subject().countEffects()).toBe(before);
    const done = await run(subject(), subject().write, true);
    expect(done.json, done.text).toMatchObject({ ok: true });
    expect(await subject().countEffects()).toBe(before + 1);
  });
}

function describeConnection(subject: () => ContractSubject): void {
  test("a connection that has to be signed in to again refuses calls and names the way", async () => {
    const { id } = await findConnection(subject());
    await subject().service.service.connections.update(id, { state: "reauth_required" });
    const reply = await run(subject(), subject().read);
    expect(readAnswer(reply)).toBe("401 needs_reauth");
    expect(reply.json.canonical.recommended_next_action).toMatchObject({
      tool: "svc.connect_app",
      input: { force_reconnect: true },
    });
  });

  test("settings that cannot work are a 422 with a hint or the setting's name", async () => {
    const { badSettings, service } = subject();
    if (badSettings === undefined) return;
    const { id, settings } = await findConnection(subject());
    await service.service.connections.update(id, { settings: badSettings });
    const reply = await run(subject(), subject().read);
    await service.service.connections.update(id, { settings });
    expect(readAnswer(reply)).toBe("422 integration_misconfigured");
    expect(reply.json.hint ?? reply.json.error.setting).toBeTruthy();
    expect((await run(subject(), subject().read)).status).toBe(200);
  });
}

async function expectDocumented(subject: ContractSubject, fault: ProviderFault, side: "read" | "write"): Promise<void> {
  const before = await subject.countEffects();
  await subject.meet?.(fault);
  const reply = await run(subject, subject[side], side === "write");
  const expected = DOCUMENTED_ANSWERS[fault];
  expect(readAnswer(reply), reply.text).toBe(expected[side]);
  if (fault === "is asked too often") expect(reply.headers["retry-after"]).toBe(String(RETRY_AFTER_SECONDS));
  else expect(reply.json.hint, "a hint").toMatch(/\w/);
  expect(reply.text).not.toMatch(/\bat \S+:\d+:\d+|node_modules/);
  expect((await findConnection(subject)).state).toBe(expected.state);
  expect(await subject.countEffects(), "nothing is sent twice").toBeLessThanOrEqual(before + 1);

  await subject.recover?.();
  const { id } = await findConnection(subject);
  await subject.service.service.connections.update(id, { state: "healthy" });
  const again = await run(subject, subject.read);
  expect(again.json, "well again").toMatchObject({ ok: true });
}

function run({ service, slug }: ContractSubject, { action, args }: ContractCall, confirmed = false): Promise<Reply> {
  return execute(service, encodeURIComponent(`${slug}_${action}`), {
    arguments: args,
    ...(confirmed && { confirmed }),
  });
}

/** Status and code, and "again" where the service calls a repetition safe. */
function readAnswer({ status, json }: Reply): string {
  return `${status} ${json?.error?.code ?? "ok"}${json?.error?.retryable === true ? " again" : ""}`;
}

async function findConnection({ service, slug }: ContractSubject) {
  const [connection] = await service.service.connections.list(slug);
  if (connection === undefined) throw new Error(`"${slug}" is not connected.`);
  return connection;
}
