import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { redact } from "../../../src/plugin/client/redact.ts";

const SECRET = "s3cr3tV4lue-0123456789";

describe("redact", () => {
  test.each([
    `key svc_live_${SECRET} in text`,
    `Authorization: Bearer ${SECRET}`,
    `authorization: basic ${SECRET}`,
    `x-svc-api-key: ${SECRET}`,
    `{"x-svc-api-key":"${SECRET}"}`,
    `https://host/x?a=1&token=${SECRET}&b=2`,
    `https://host/x?sig=${SECRET}#end`,
    JSON.stringify({ apiKey: SECRET, verifier: SECRET, sessionToken: SECRET, token: SECRET }),
    inspect({ apiKey: SECRET, verifier: SECRET }),
    `curl -H "Authorization: Bearer v1.${SECRET}.${SECRET}" https://host`,
    `token v1.${SECRET}.${SECRET}`,
  ])("takes the secret out of %s", (text) => {
    expect(redact(text)).not.toContain(SECRET);
    expect(redact(text)).toContain("[redacted]");
  });

  test("takes out given secrets whatever they look like, as often as they occur", () => {
    expect(redact("a plain-secret b plain-secret", ["plain-secret"])).toBe("a [redacted] b [redacted]");
  });

  test("leaves ordinary text alone", () => {
    const text = "Upload drive_upload_file failed: the token is expired, key 3 of 4, see https://host/a?page=2";
    expect(redact(text, ["no", ""])).toBe(text);
  });

  test("is quick on a long text", () => {
    const text = "a?token=x&".repeat(100_000);
    expect(redact(text)).toContain("token=[redacted]");
  });
});
