import { afterEach, expect, test } from "vitest";
import { runSvc } from "../e2e/run-svc.ts";
import { closeAll, makeFolder } from "../plugin/calls/open-test-session.ts";

afterEach(closeAll);

test("svc serve --otel says what is missing where OpenTelemetry is not installed", async () => {
  const { code, stderr } = await runSvc(["serve", "--port", "0", "--otel"], await makeFolder());
  expect(stderr).toContain("@opentelemetry/api is not installed");
  expect(code).not.toBe(0);
});
