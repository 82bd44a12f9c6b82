import { afterEach, describe, expect, test } from "vitest";
import type { AccessTokenSource } from "../../src/client/access-token.ts";
import { SvcClient } from "../../src/client/client.ts";
import { isSvcError } from "../../src/errors.ts";
import { describeSvcError } from "../../src/tools/describe-error.ts";
import { catchError, startRecordingServer } from "./recording-server.ts";

/** What a call makes of its source of tokens: the limits hold for it too, and what it does is never thrown raw. */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A client with a source of tokens changed by `change`, and the service it calls, which refuses every token. */
async function openClient(change: Partial<AccessTokenSource>) {
  const challenge = { "www-authenticate": 'Bearer error="invalid_token"' };
  const server = await startRecordingServer(() => ({ status: 401, json: { error: "no" }, headers: challenge }));
  const source: AccessTokenSource = {
    baseUrl: server.url,
    signInId: "s1",
    getToken: async () => "token-1",
    renewToken: async () => "token-2",
    ...change,
  };
  const client = new SvcClient({ baseUrl: server.url, accessToken: source });
  cleanups.push(server.close, () => client.close());
  return { client, server };
}

const silence = () => new Promise<string>(() => {});

describe("a source of tokens that never answers", () => {
  test("is waited for no longer than the call may take", async () => {
    const { client, server } = await openClient({ getToken: silence });
    const error = await catchError(() => client.callMcp({ method: "tools/list" }, { timeoutMs: 20 }));
    expect(error).toMatchObject({ code: "timeout", sent: false });
    expect(server.requests).toEqual([]);
  });

  test("is not waited for once the caller has given up", async () => {
    const caller = new AbortController();
    const { client, server } = await openClient({
      getToken: () => {
        queueMicrotask(() => caller.abort());
        return silence();
      },
    });
    const error = await catchError(() => client.callMcp({ method: "tools/list" }, { signal: caller.signal }));
    expect(error).toMatchObject({ code: "aborted", sent: false });
    expect(server.requests).toEqual([]);
  });

  test("is not waited for either when the first token was refused", async () => {
    const { client, server } = await openClient({ renewToken: silence });
    const error = await catchError(() => client.callMcp({ method: "tools/list" }, { timeoutMs: 500 }));
    expect(error).toMatchObject({ code: "timeout", sent: false });
    expect(server.requests).toHaveLength(1);
  });
});

describe("a source of tokens that gives none", () => {
  const give = (value: unknown) => async () => value as string;
  const isRefused = { name: "SvcError", code: "unauthorized", sent: false, hint: expect.stringContaining("svc login") };

  test.each([undefined, null, "", " ", "two words", "line\r\nx: y", 7])("%j is not sent", async (value) => {
    const { client, server } = await openClient({ getToken: give(value) });
    expect(await catchError(() => client.callMcp({ method: "tools/list" }))).toMatchObject(isRefused);
    expect(server.requests).toEqual([]);
  });

  test("is no reason to tell a model that a key is missing: the same call may work later", async () => {
    const { client } = await openClient({
      getToken: () => Promise.reject(Object.assign(new Error(), { code: "EIO" })),
    });
    const error = await catchError(() => client.callMcp({ method: "tools/list" }));
    if (!isSvcError(error)) throw error;
    expect(describeSvcError(error)).toMatchObject({
      code: "unauthorized",
      hint: expect.stringMatching(/^Try again;.*svc login/),
    });
  });

  test("for one that was refused ends the call after the first request", async () => {
    const { client, server } = await openClient({ renewToken: give(undefined) });
    expect(await catchError(() => client.callMcp({ method: "tools/list" }))).toMatchObject(isRefused);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    new TypeError("no store"),
    Object.assign(new Error("write '/home/anna/x'"), { code: "ENOSPC" }),
    "nothing",
  ])("but fails is an SvcError that shows no more than the code: %s", async (thrown) => {
    const fail = () => Promise.reject(thrown);
    const { client, server } = await openClient({ getToken: fail });
    const error = await catchError(() => client.callMcp({ method: "tools/list" }));
    expect(error).toMatchObject(isRefused);
    expect(String(error)).not.toContain("anna");
    expect(String(error).includes("ENOSPC")).toBe(typeof thrown === "object" && "code" in thrown);
    expect(server.requests).toEqual([]);
  });

  test("and breaks before it promises anything is one too", async () => {
    const { client } = await openClient({
      getToken: () => {
        throw new RangeError("broken");
      },
    });
    expect(await catchError(() => client.callMcp({ method: "tools/list" }))).toMatchObject(isRefused);
  });
});
