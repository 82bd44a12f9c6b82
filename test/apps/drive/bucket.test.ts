import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import { type FakeS3, startFakeS3 } from "../../service/files/fake-s3.ts";
import { createPreviewer, createRunner, holdFile, NOW, refusal } from "../run-action.ts";
import { toBucketSettings } from "./bucket-settings.ts";

const integration = createDriveIntegration();
let s3: FakeS3;
let run: ReturnType<typeof createRunner>;

beforeEach(async () => {
  s3 = await startFakeS3(() => NOW, 1000);
  const files = { k: holdFile("a.txt", "text/plain", "new") };
  run = createRunner(integration, { settings: toBucketSettings(s3.place), files });
});
afterEach(async () => {
  await integration.close?.();
  await s3.close();
});

const put = (name: string, text: string) => s3.objects.set(name, { bytes: Buffer.from(text), writtenAt: NOW });
const upload = (extra = {}) =>
  run("upload_file", { file: { name: "a.txt", mimetype: "text/plain", s3key: "k" }, ...extra });
const move = (path: string, destination: string) => run("move_file", { path, destination });
const names = () => [...s3.objects.keys()].sort();
const listWrites = () => s3.seen.filter((line) => /^(PUT|DELETE)/.test(line)).map((line) => line.split(" ")[0]);

describe("a bucket as a drive", () => {
  it("shows names that other programs gave, as far as a path can hold them", async () => {
    for (const name of ["a/./b", "a//b", "../c", "d/", "e/f.txt", "g"]) put(name, "x");
    const list = async (folder: string) =>
      (await run("list_files", { folder })).entries.map((one: { path: string }) => one.path);
    expect([await list(""), await list("a"), await list("d")]).toEqual([["a", "d", "e", "g"], [], []]);
    const found = await run("search_files", { query: "e", type: "any" });
    expect(found.entries.map((one: { path: string }) => one.path)).toEqual(["e/f.txt", "e"]);
  });

  it("keeps a file that somebody else writes at the same moment", async () => {
    put("a.txt", "theirs");
    s3.fail(({ method, url }) => {
      if (method === "PUT") put("a.txt", "theirs, changed");
      // As if the file came after it was looked for.
      return method === "HEAD" && url?.endsWith("b.txt") ? { status: 404 } : undefined;
    });
    expect(await refusal(upload({ if_exists: "replace" }))).toMatchObject({ status: 409, code: "conflict" });
    put("b.txt", "theirs");
    expect((await refusal(upload({ name: "b.txt" }))).options.extra).toEqual({ invalidFields: ["arguments.name"] });
    expect((await refusal(move("a.txt", "b.txt"))).options.extra).toEqual({
      invalidFields: ["arguments.destination"],
    });
    expect(names().map((name) => String(s3.objects.get(name)?.bytes))).toEqual(["theirs, changed", "theirs"]);
  });

  it("moves and replaces nothing that becomes another after it was looked at for the last time", async () => {
    const file = { name: "a.txt", mimetype: "text/plain", s3key: "k" };
    const calls = [
      ["upload_file", { file, if_exists: "replace" }],
      ["delete_file", { path: "a.txt" }],
      ["delete_file", { path: "f" }],
      ["move_file", { path: "b.txt", destination: "a.txt", if_exists: "replace" }],
    ] as const;
    const files = { k: holdFile("a.txt", "text/plain", "new") };
    for (const [action, args] of calls) {
      for (const name of ["a.txt", "b.txt", "f/1"]) put(name, "seen");
      const settings = toBucketSettings(s3.place);
      const { state } = await createPreviewer(integration, { settings, files })(action, args);
      s3.fail(({ method }) => {
        if (method === "PUT") for (const name of ["a.txt", "b.txt", "f/1"]) put(name, "changed");
        return undefined;
      });
      const error = await refusal(createRunner(integration, { settings, files, expectedState: state })(action, args));
      expect([error.status, error.code]).toEqual([412, "state_changed"]);
      expect(names()).toEqual(["a.txt", "b.txt", "f/1"]);
      expect(names().map((name) => String(s3.objects.get(name)?.bytes))).toEqual(["changed", "changed", "changed"]);
      s3.fail(() => undefined);
    }
  });

  it("removes nothing before all of a folder is copied, nor what changed since", async () => {
    for (const name of ["f/1", "f/2", "f/3"]) put(name, name);
    s3.fail(({ method, url }) => (method === "PUT" && url?.endsWith("/g/3") ? { status: 500 } : undefined));
    const half = await refusal(move("f", "g"));
    expect([half.code, half.message]).toEqual([
      "outcome_unknown",
      expect.stringContaining('The move of "f" was begun'),
    ]);
    expect(names()).toEqual(["f/1", "f/2", "f/3", "g/1", "g/2"]);
    expect(listWrites()).not.toContain("DELETE");
    s3.fail(({ method, url }) => {
      if (method === "DELETE" && url?.endsWith("/f/2")) put("f/2", "changed since");
      return undefined;
    });
    expect((await refusal(move("f", "h"))).message).toContain('"f/2" was changed while it was copied');
    expect(String(s3.objects.get("f/2")?.bytes)).toBe("changed since");
  });

  it("replaces where a store compares versions without their quotes", async () => {
    put("a.txt", "theirs");
    s3.fail(({ method, headers: { "if-match": version = "", ...headers } }) => {
      if (method !== "PUT" || "x-amz-copy-source" in headers) return undefined;
      if (version.startsWith('"')) return { status: 412 };
      put("a.txt", `replaced ${version}`);
      return { status: 200 };
    });
    await upload({ if_exists: "replace" });
    expect(String(s3.objects.get("a.txt")?.bytes)).toMatch(/^replaced [0-9a-f]{32}-6$/);
    const kept = names().find((name) => /^\.trash\/[^/]+\/a\.txt$/.test(name)) ?? "";
    expect(String(s3.objects.get(kept)?.bytes)).toBe("theirs");
  });

  it("keeps what is changed before a copy's source is removed, also where a store compares no versions", async () => {
    put("a.txt", "old");
    let isCopied = false;
    s3.fail(({ method }) => {
      if (isCopied && method === "HEAD") put("a.txt", "changed since");
      isCopied ||= method === "PUT";
      return undefined;
    });
    expect((await refusal(move("a.txt", "b.txt"))).message).toContain('"a.txt" was changed while it was copied');
    expect([names(), listWrites()]).toEqual([["a.txt", "b.txt"], ["PUT"]]);
  });

  it("takes a copy that failed behind a status of 200 for what it is", async () => {
    put("a", "1");
    s3.fail(({ method }) =>
      method === "PUT" ? { status: 200, body: "<Error><Code>InternalError</Code></Error>" } : undefined,
    );
    expect((await refusal(move("a", "b"))).code).toBe("outcome_unknown");
    expect(names()).toEqual(["a"]);
  });

  it("moves no folder of more than a thousand files", async () => {
    for (let at = 0; at <= 1000; at += 1) put(`f/${at}`, "");
    expect(await refusal(move("f", "g"))).toMatchObject({ status: 400, code: "invalid_field_value" });
    expect(listWrites()).toEqual([]);
  });

  it("says that a write is unknown when its answer is lost, and sends it once", async () => {
    s3.lose(({ method }) => method === "PUT");
    const lost = await refusal(upload());
    expect([lost.status, lost.code, lost.options.retryable]).toEqual([500, "outcome_unknown", undefined]);
    expect([listWrites(), names()]).toEqual([["PUT"], ["a.txt"]]);
  });

  it("does not write to a store that refuses conditions, and says that nothing was done", async () => {
    s3.fail(({ headers }) =>
      headers["if-none-match"]
        ? { status: 501, body: "<Error><Message>A header is not implemented</Message></Error>" }
        : undefined,
    );
    const error = await refusal(upload());
    expect([error.status, error.code, error.options.hint]).toEqual([
      ...[422, "integration_misconfigured"],
      expect.stringContaining("conditional writes"),
    ]);
    expect(names()).toEqual([]);
  });

  it("asks for another key when the store does not know it, and for more rights when it does", async () => {
    const other = { ...toBucketSettings(s3.place), s3SecretAccessKey: "another secret" };
    const error = await refusal(createRunner(integration, { settings: other })("list_files", {}));
    expect([error.status, error.code, error.message]).toEqual([
      ...[401, "needs_reauth"],
      expect.stringMatching(/answered 401: SignatureDoesNotMatch$/),
    ]);
    s3.fail(() => ({ status: 403, body: "<Error><Code>AccessDenied</Code></Error>" }));
    expect(await refusal(run("list_files", {}))).toMatchObject({ status: 403, code: "forbidden" });
  });

  it("reads one version of a file, or says that it changed", async () => {
    put("long.txt", "x".repeat(100_000));
    s3.fail(({ headers }) => {
      // The request before read the beginning of the file.
      if (headers.range === "bytes=0-99999") put("long.txt", "y".repeat(100_000));
      return undefined;
    });
    expect(await refusal(run("read_file", { path: "long.txt" }))).toMatchObject({ status: 409, code: "conflict" });
  });

  it("reads only the part that is asked for of a file too large to be hashed", async () => {
    const big = Buffer.alloc(26 * 1024 * 1024, "ä");
    s3.objects.set("big.txt", { bytes: big, writtenAt: NOW });
    const ranges: (string | undefined)[] = [];
    s3.fail(({ method, headers }) => {
      if (method === "GET") ranges.push(headers.range);
      return undefined;
    });
    const part = await run("read_file", { path: "big.txt", offset: 20_000_000, max_bytes: 17 });
    expect(part).toMatchObject({ size: big.length, text: "ä".repeat(8), next_offset: 20_000_016 });
    expect(part.sha256).toBeUndefined();
    expect(ranges).toEqual(["bytes=0-65535", "bytes=20000000-20000016"]);
  });
});

describe("settings of a bucket", () => {
  const attempt = (change: Record<string, unknown>) => {
    const settings = { ...toBucketSettings(s3.place), ...change };
    const test = async () => {
      await integration.checkSettings(settings);
      await integration.testSettings?.(settings, AbortSignal.timeout(9000));
    };
    return refusal(test());
  };

  it("are tried, and the one that is wrong is named, without a key", async () => {
    for (const [change, setting] of [
      [{ s3Bucket: "a b" }, "s3Bucket"],
      [{ s3Bucket: "other" }, "s3Endpoint"],
      [{ s3Endpoint: "https://s3.example.org/path" }, "s3Endpoint"],
      [{ s3Endpoint: "http://s3.example.org" }, "s3Endpoint"],
      [{ s3Endpoint: "https://10.0.0.1" }, "s3Endpoint"],
      [{ s3Prefix: "a/../b" }, "s3Prefix"],
      [{ s3SecretAccessKey: "another secret" }, "s3SecretAccessKey"],
      [{ s3SecretAccessKey: undefined }, "s3SecretAccessKey"],
      [{ folder: "/srv" }, "folder"],
    ] as const) {
      if (setting === "s3Endpoint" && "s3Bucket" in change) s3.fail(() => ({ status: 404, body: "<Error/>" }));
      const error = await attempt(change);
      s3.fail(() => undefined);
      expect([error.status, error.options.extra], JSON.stringify(change)).toEqual([422, { setting }]);
      expect(error.message).not.toMatch(/secret key|another secret/);
    }
  });

  it("reach a host of the owner without encryption, and no address that is not public", async () => {
    const { readAllowedHosts } = await import("../../../src/service/fetch/address-rules.ts");
    const settings = { ...toBucketSettings(s3.place), s3Endpoint: "http://nas.example.org:9000" };
    await createDriveIntegration({ allowed: readAllowedHosts(["nas.example.org:9000"]) }).checkSettings(settings);
    const blocked = createRunner(integration, { settings: { ...settings, s3Endpoint: "https://192.168.1.5" } });
    const error = await refusal(blocked("list_files", {}));
    expect([error.status, error.message]).toEqual([503, expect.stringContaining("--allow-host")]);
  });
});
