import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestService } from "../../src/testing.ts";
import { PACKAGE_ROOT } from "../package/read-package.ts";
import { execute } from "../service/http-calls.ts";
import { createLab } from "../service/lab-integration.ts";
import { startReceiver } from "../service/notify/receiver.ts";

interface Library {
  readonly Webhook: new (secret: string) => { verify(body: string, headers: object): unknown };
}

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const place = join(PACKAGE_ROOT, "test/consumers/node_modules/standardwebhooks/dist/index.js");

test("the library of Standard Webhooks takes a note, and no changed one", async () => {
  const { Webhook }: Library = await import(place);
  const receiver = await startReceiver();
  const service = await startTestService({
    integrations: [createLab().integration],
    approvals: "owner",
    notify: [{ to: `webhook:${receiver.url}/hook`, secret: SECRET }],
  });
  try {
    await service.service.connections.add({ integration: "lab", label: "Lab", settings: {} });
    await execute(service, "lab_put", { arguments: { title: "x" } });
    await expect.poll(() => receiver.received.length).toBe(1);
    const { body = "", headers = {} } = receiver.received[0] ?? {};
    const webhook = new Webhook(SECRET);
    expect(webhook.verify(body, headers)).toMatchObject({ type: "approval.waiting", data: { waiting: 1 } });
    expect(() => webhook.verify(`${body} `, headers)).toThrow(/signature/i);
  } finally {
    await service.close();
    await receiver.close();
  }
});
