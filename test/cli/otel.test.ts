import { afterEach, expect, test } from "vitest";
import { closeAll, makeFolder } from "../calls/open-test-session.ts";
import { runSvc } from "../e2e/run-svc.ts";

afterEach(closeAll);

test("svc serve --otel says what is missing where OpenTelemetry is not installed", async () => {
  const { code, stderr } = await runSvc(["serve", "--port", "0", "--otel"], await makeFolder());
  expect(stderr).toContain("@opentelemetry/api is not installed");
  expect(code).not.toBe(0);
});
