import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { createMeter } from "../../../src/service/metrics/meter.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { decideHeld } from "../approvals/owner.ts";
import { findStore, readStored } from "../find-store.ts";
import { startFlow } from "../flows/flow-calls.ts";
import { call, execute } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";
import { startReceiver } from "../notify/receiver.ts";
import { readMetrics } from "./read-metrics.ts";

const TOKEN = "a-token-of-thirty-two-letters-for-this";

describe("the text", () => {
  test("is in the format, whatever the labels hold", async () => {
    const meter = createMeter();
    const counter = meter.counter("odd_total", "Odd names.", ["name"]);
    counter.add('a "quoted" \\ name\non two lines');
    counter.add('a "quoted" \\ name\non two lines');
    const histogram = meter.histogram("length_seconds", "Lengths.", ["kind"]);
    for (const seconds of [0, 0.005, 0.3, 1000]) histogram.observe(seconds, "x");
    meter.gauge("level", "A level.", ["of"], async () => [[1.5, "tea"]]);
    const metrics = readMetrics(await meter.render());
    expect(metrics.get("odd_total")?.samples).toEqual([
      { name: "odd_total", labels: { name: 'a \\"quoted\\" \\\\ name\\non two lines' }, value: 2 },
    ]);
    const buckets = metrics.get("length_seconds")?.samples.filter(({ name }) => name.endsWith("_bucket")) ?? [];
    expect(buckets.map(({ labels, value }) => `${labels.le} ${value}`)).toEqual([
      "0.005 2",
      "0.025 2",
      "0.1 2",
      "0.5 3",
      "1 3",
      "5 3",
      "10 3",
      "30 3",
      "60 3",
      "+Inf 4",
    ]);
  });

  test("has a bounded number of series", async () => {
    const meter = createMeter();
    const counter = meter.counter("many_total", "Many.", ["name"]);
    for (let index = 0; index < 3000; index += 1) counter.add(String(index));
    expect(readMetrics(await meter.render()).get("many_total")?.samples).toHaveLength(2000);
  });
});

describe("GET /metrics", () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService({
      integrations: [...builtInIntegrations, createLab().integration],
      approvals: "owner",
      metricsToken: TOKEN,
      heartbeatMs: 20,
    });
    await service.service.connections.add({ integration: "lab", label: "Secret account", settings: {} });
  });
  afterEach(() => service.close());

  const fetchText = (headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) =>
    call(`${service.url}/metrics`, { headers });
  async function read(name: string): Promise<Record<string, number>> {
    const { samples = [] } = readMetrics((await fetchText()).text).get(name) ?? {};
    return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(" "), value]));
  }

  test("needs the token of the configuration, and is not there without one", async () => {
    const { status, headers } = await fetchText();
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect((await fetchText({})).status).toBe(401);
    expect((await fetchText({ authorization: `Bearer ${TOKEN}x` })).status).toBe(401);
    expect((await fetchText({ "x-svc-api-key": service.apiKey })).status).toBe(401);
    await service.close();
    service = await startTestService();
    expect((await fetchText()).status).toBe(404);
  });

  test("counts calls, waits, decisions and flows, and names no argument, account or device", async () => {
    await execute(service, "lab_look", { arguments: { text: "Private milk" } });
    await execute(service, "lab_fail", { arguments: { how: "gone" } });
    for (let index = 0; index < 20; index += 1) await execute(service, `made_up_${index}`, {});
    const hold = async (title: string) =>
      (await execute(service, "lab_put", { arguments: { title } })).json.error.approval.id as string;
    const [yes, no] = [await hold("Private milk"), await hold("b")];
    await hold("c");
    await decideHeld(service, yes, "approve");
    await decideHeld(service, no, "decline");
    await expect
      .poll(() => read("svc_calls_total"))
      .toEqual({
        "lab succeeded": 2,
        "lab failed": 1,
        "lab blocked": 3,
        " blocked": 20,
      });
    expect(await read("svc_waits_total")).toEqual({ call: 3 });
    expect(await read("svc_decisions_total")).toEqual({ approved: 1, declined: 1 });
    expect(await read("svc_approvals_waiting")).toEqual({ "": 1 });
    await startFlow(service, "notes_reminder", { text: "Private", delaySeconds: 3600 });
    expect(await read("svc_flows")).toEqual({ waiting: 1 });
    expect((await read("svc_disk_free_bytes"))[""]).toBeGreaterThan(0);
    const { database } = await findStore(service.dataDir);
    const bytes = await read("svc_database_bytes");
    // A database of its own program tells its size itself.
    if (database !== undefined) expect(bytes).toEqual({});
    else expect(bytes[""]).toBeGreaterThanOrEqual((await readStored(service.dataDir)).length);
    expect(await read("svc_calls_running")).toEqual({ "": 0 });
    expect((await fetchText()).text).not.toMatch(/Private|Secret account|Test device|acc_|con_|key_|apr_/);
  });

  test("measures requests by the route that matched, however many paths are asked for", async () => {
    for (let index = 0; index < 30; index += 1) {
      await call(`${service.url}/made/up/${index}`);
      await call(`${service.url}/api/approvals/apr_${index}`, { key: service.apiKey });
    }
    const { samples = [] } = readMetrics((await fetchText()).text).get("svc_http_request_duration_seconds") ?? {};
    const counts = samples.filter(({ name }) => name.endsWith("_count"));
    expect(counts.map(({ labels, value }) => [labels.route, labels.status, value])).toEqual([
      ["none", "4xx", 30],
      ["/api/approvals/:id", "4xx", 30],
    ]);
  });

  test("counts the notes that were sent and that failed", async () => {
    await service.close();
    const receiver = await startReceiver();
    service = await startTestService({
      integrations: [createLab().integration],
      approvals: "owner",
      metricsToken: TOKEN,
      heartbeatMs: 20,
      notify: [`ntfy:${receiver.url}/topic`, "mail:me@example.org"],
    });
    await service.service.connections.add({ integration: "lab", label: "Lab", settings: {} });
    await execute(service, "lab_put", { arguments: { title: "x" } });
    await expect.poll(() => read("svc_notes_total")).toEqual({ "ntfy sent": 1, "mail failed": 1 });
    expect(await read("svc_notes_waiting")).toEqual({ "": 1 });
    await receiver.close();
  });
});
