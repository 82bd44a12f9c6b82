import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type OpenService, openService } from "../../../src/service/open-service.ts";
import type { ServiceOptions } from "../../../src/service/service-options.ts";
import { testDefaults } from "../../../src/service/test-kit/start-test-service.ts";
import type { TriggerContent } from "../../../src/service/triggers/trigger.ts";

/** A service whose clock the test sets, with a mailbox and a drive. */
export interface TriggerLab {
  readonly service: OpenService;
  readonly dataDir: string;
  /** Milliseconds since the epoch. */
  time: number;
  /** What it logged. */
  readonly log: string[];
  /** Makes a trigger and gives its id. */
  make(on: TriggerContent["on"], act?: TriggerContent["act"]): Promise<string>;
  /** Lets time pass, and everything that is due be done. */
  pass(ms: number): Promise<void>;
  /** Puts a message into the mailbox, as it arrives now. */
  receiveMail(mail: { subject: string; id?: string; date?: string; at?: number }): Promise<void>;
  /** Puts a file into the drive, as it was written some seconds ago. */
  saveFile(path: string, text?: string): Promise<void>;
  /** Inputs of the flows that triggers started, the oldest first. */
  listStarted(): Promise<Record<string, unknown>[]>;
  /** Subjects of the mail of the events of a trigger, or whatever `value` names. */
  listValues(id: string, value: string): Promise<(string | undefined)[]>;
  /** Stops the service as if it was killed, and starts another over the same folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export const START = Date.parse("2026-03-02T09:00:00Z");
/** Of the gateways that triggers wake. */
export const TOKEN = "t".repeat(32);
const MINUTE = 60_000;

/** What a trigger of a test does unless that matters. */
export const SUMMARY = {
  does: "flow",
  template: "mail_unread_summary",
  input: { maxResults: 1 },
  take: {},
} as const satisfies TriggerContent["act"];

/** Opens a lab in a folder of its own. */
export async function openTriggerLab(options: Partial<ServiceOptions> = {}): Promise<TriggerLab> {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-triggers-"));
  const log: string[] = [];
  let [time, count] = [START, 0];
  const defaults = await testDefaults.forFolder?.(dataDir);
  const open = () =>
    openService({
      dataDir,
      port: 0,
      now: () => time,
      log: ({ message }) => log.push(message),
      ...defaults,
      heartbeatMs: 5000,
      ...options,
    });
  let service = await open();
  const lab: TriggerLab = {
    get service() {
      return service;
    },
    dataDir,
    get time() {
      return time;
    },
    set time(at) {
      time = at;
    },
    log,
    async make(on, act = SUMMARY) {
      const { trigger } = await service.triggers.make({
        content: { name: "Lab", on, act },
        token: "t".repeat(32),
        by: "Owner",
      });
      return trigger.row.id;
    },
    async pass(ms) {
      time += ms;
      service.triggers.wake();
      await service.triggers.idle();
    },
    async receiveMail({ subject, id, date = new Date(time).toUTCString(), at = time }) {
      count += 1;
      const folder = join(dataDir, "mail", "new");
      await mkdir(folder, { recursive: true });
      const lines = ["From: Anna <anna@example.org>", "To: me@localhost", `Subject: ${subject}`, `Date: ${date}`];
      if (id !== undefined) lines.push(`Message-ID: <${id}>`);
      const name = `${Math.floor(at / 1000)}.M${(at % 1000) * 1000}P1Q${count}.host`;
      await writeFile(join(folder, name), `${lines.join("\r\n")}\r\n\r\nHello\r\n`);
    },
    async saveFile(path, text = "x") {
      const whole = join(dataDir, "drive", path);
      await mkdir(dirname(whole), { recursive: true });
      await writeFile(whole, text);
      await utimes(whole, (time - MINUTE) / 1000, (time - MINUTE) / 1000);
    },
    async listStarted() {
      const rows = await service.store
        .selectFrom("flows")
        .select("input")
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map(({ input }) => JSON.parse(input) as Record<string, unknown>);
    },
    async listValues(id, value) {
      const rows = await service.store
        .selectFrom("trigger_events")
        .select("data")
        .where("trigger_id", "=", id)
        .execute();
      return rows.map(({ data }) => (JSON.parse(data) as Record<string, string>)[value]).sort();
    },
    async restart() {
      await service.close();
      service = await open();
      await service.triggers.idle();
    },
    async close() {
      await service.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return lab;
}
