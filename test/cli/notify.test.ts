import { afterEach, expect, test } from "vitest";
import { runSvc, startSvc } from "../e2e/run-svc.ts";
import { closeAll, makeFolder } from "../plugin/calls/open-test-session.ts";
import { startReceiver } from "../service/notify/receiver.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

afterEach(closeAll);

test("svc notify test says which target got a test note, and why not", async () => {
  const home = await makeFolder();
  const receiver = await startReceiver();
  const env = {
    SVC_NOTIFY: `ntfy:${receiver.url}/secret-topic  webhook:http://127.0.0.1:1/hook mail:me@elsewhere.example`,
    SVC_NTFY_TOKEN: "tk_1",
    SVC_WEBHOOK_SECRET: SECRET,
  };
  const service = startSvc(["serve", "--port", "0"], home, env);
  await service.waitFor(/Sign in: \S+/);
  const [{ code, stdout }, asJson] = await Promise.all([
    runSvc(["notify", "test"], home),
    runSvc(["notify", "test", "--json"], home),
  ]);
  expect(stdout.trimEnd().split("\n")).toEqual([
    `sent    ntfy at ${new URL(receiver.url).host}`,
    "failed  webhook at 127.0.0.1:1",
    "        It cannot be reached (ECONNREFUSED).",
    "failed  mail to me@elsewhere.example",
    '        The mail account "Local mailbox" cannot deliver to this address.',
  ]);
  expect(code).toBe(1);
  const authorized = { headers: { authorization: "Bearer tk_1" } };
  expect(receiver.received).toMatchObject([authorized, authorized]);
  expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({ topic: "secret-topic", title: "Test note" });
  const { results } = JSON.parse(asJson.stdout);
  expect(results[0]).toEqual({ target: `ntfy at ${new URL(receiver.url).host}`, ok: true, reason: null });
  service.kill("SIGTERM");
  expect(await service.done).toMatchObject({ code: 0 });
  await receiver.close();

  const stopped = await runSvc(["notify", "test"], home);
  expect(stopped.stderr).toContain("No service is running");
  const refused = await runSvc(["serve", "--notify", "webhook:http://127.0.0.1:1/x"], home);
  expect(refused.stderr).toMatch(/A webhook needs a secret[\s\S]*SVC_WEBHOOK_SECRET/);
}, 60_000);
