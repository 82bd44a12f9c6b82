import { describe, expect, test } from "vitest";
import { isSvcError, SVC_ERROR_CODES, SvcError } from "../../src/shared/errors.ts";

describe("SvcError", () => {
  test("has a closed list of codes; adding one is a decision", () => {
    expect([...SVC_ERROR_CODES].sort()).toEqual([
      "aborted",
      "bad_response",
      "credentials_missing",
      "file_missing",
      "invalid_config",
      "media_refused",
      "pairing_failed",
      "service_failure",
      "timeout",
      "unauthorized",
      "unreachable",
      "unsupported",
    ]);
  });

  test("is recognised across two installed copies of the package", async () => {
    const copy: typeof import("../../src/shared/errors.ts") = await import(
      `../../src/shared/errors.ts?${"second-copy"}`
    );
    const foreign = new copy.SvcError("timeout", "Too late.");
    expect(foreign).not.toBeInstanceOf(SvcError);
    expect(isSvcError(foreign)).toBe(true);
    expect(copy.isSvcError(new SvcError("timeout", "Too late."))).toBe(true);
  });

  test("is not any other thing", () => {
    for (const other of [new Error("timeout"), { code: "timeout" }, "timeout", null, undefined, 5]) {
      expect(isSvcError(other)).toBe(false);
    }
  });

  test("is not retryable unless said, and keeps its cause", () => {
    const cause = new Error("socket");
    expect(new SvcError("unreachable", "No answer.")).toMatchObject({ retryable: false, status: undefined });
    expect(new SvcError("unreachable", "No answer.", { cause, retryable: true })).toMatchObject({
      cause,
      retryable: true,
    });
  });
});
