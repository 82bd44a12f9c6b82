import { randomBytes } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { OWNER_SESSION_LIFETIME_MS } from "../../src/service/auth/open-session.ts";
import { DEFAULT_TTL_MS, MAX_LARGE_BODIES } from "../../src/service/files/staged-file.ts";
import { checkOptions, type ServiceOptions } from "../../src/service/service-options.ts";
import { KEPT_KEYS } from "../../src/service/store/retention.ts";
import { decideAsOwner } from "../../src/service/test-kit/decide-as-owner.ts";
import {
  BOOTSTRAP_LIFETIME_MS,
  IDEMPOTENCY_KEPT_MS,
  MAX_FILE_BYTES,
  MAX_REQUEST_FILE_BYTES,
} from "../../src/shared/wire/constants.ts";
import { runSvc, startSvc } from "../e2e/run-svc.ts";
import { type WatchedProcess, watchProcess } from "../e2e/watch-process.ts";
import { PACKAGE_ROOT } from "../package/read-package.ts";
import { closeAll, makeFolder } from "../plugin/calls/open-test-session.ts";
import { findFreePort } from "../service/free-port.ts";
import { listCommands } from "./list-commands.ts";
import { readFences, readPage, readTable } from "./read-page.ts";
import { runBlock } from "./run-block.ts";

/** docs/self-hosting.md: its commands are typed one after another, and its tables are those of the code. */

const PAGE = "docs/self-hosting.md";
const fences = readFences(PAGE);
const findFence = (language: string) => fences.find((fence) => fence.language === language)?.code ?? "";

afterEach(closeAll);

describe("the tables", () => {
  const rows = readTable(PAGE, "Settings");
  const serve = listCommands().commands.find((command) => command.name() === "serve");

  test("have every option of the service", () => {
    const options: Record<keyof ServiceOptions, true> = {
      dataDir: true,
      port: true,
      host: true,
      publicUrl: true,
      trustProxy: true,
      database: true,
      files: true,
      secretKey: true,
      ingestSecret: true,
      usageLimit: true,
      retentionDays: true,
      undoMegabytes: true,
      sendDelay: true,
      allowHosts: true,
      fileEnvelopes: true,
      approvals: true,
      flowApprovals: true,
      notify: true,
      notifyArguments: true,
      metricsToken: true,
      openTelemetry: true,
      accessLog: true,
      providerTimeoutMs: true,
      heartbeatMs: true,
      integrations: true,
      now: true,
      elapsed: true,
      log: true,
    };
    expect(rows.map(([option]) => option)).toEqual(Object.keys(options));
  });

  test("have every flag of svc serve and its variable", () => {
    const said = rows.flatMap(([, flag = "", variable = ""]) =>
      flag === "" ? [] : [`${flag.split(" ")[0]} ${variable}`],
    );
    const real = serve?.options.map(({ long, envVar = "" }) => `${long} ${envVar}`) ?? [];
    expect([...said, "--config "].sort()).toEqual(real.sort());
    const variables = rows.map(([, , variable = ""]) => variable).filter((variable) => variable !== "");
    expect(variables).toEqual(expect.arrayContaining(["SVC_SECRET", "SVC_METRICS_TOKEN"]));
  });

  test("have the defaults of the code", () => {
    const { port, host, heartbeatMs, retentionDays, providerTimeoutMs } = checkOptions({ dataDir: "x" });
    const defaultOf = (name: string) => rows.find(([option]) => option === name)?.[3];
    expect(defaultOf("port")).toContain(String(port));
    expect(defaultOf("host")).toBe(host);
    expect(defaultOf("retentionDays")).toMatch(new RegExp(`^${retentionDays};`));
    const keepDays = serve?.options.find(({ long }) => long === "--keep-days");
    expect(keepDays?.description).toContain(`(default: ${retentionDays})`);
    expect(defaultOf("heartbeatMs")).toBe(heartbeatMs.toLocaleString("en-GB"));
    expect(defaultOf("providerTimeoutMs")).toBe(providerTimeoutMs.toLocaleString("en-GB"));
  });

  test("have the limits of the code", () => {
    const text = readPage(PAGE);
    const days = (ms: number) => `${ms / 86_400_000} days`;
    expect(text).toContain(`| ${MAX_FILE_BYTES / 2 ** 20} MB, ${MAX_REQUEST_FILE_BYTES / 2 ** 20} MB |`);
    expect(text).toContain(`| large bodies at a time | ${MAX_LARGE_BODIES};`);
    expect(text).toContain(`| a storage key | ${days(DEFAULT_TTL_MS)} |`);
    const keys = `${days(IDEMPOTENCY_KEPT_MS)}, and the newest ${KEPT_KEYS.toLocaleString("en")} in any case`;
    expect(text).toContain(`| an idempotency key | ${keys} |`);
    expect(text).toContain(
      `| a sign-in link, an invitation, a signed-in browser | 10 minutes, a day, ${days(OWNER_SESSION_LIFETIME_MS)} |`,
    );
    expect(text).toContain(`| a pairing or installation | ${BOOTSTRAP_LIFETIME_MS / 60_000} minutes |`);
  });
});

test("every change that has a line is named", () => {
  const text = readPage(PAGE);
  const sources = globSync("src/service/http/**/*.ts", { cwd: PACKAGE_ROOT });
  const written = sources.flatMap((file) =>
    [...readFileSync(join(PACKAGE_ROOT, file), "utf8").matchAll(/"((?:[a-z]+)\.(?:[a-z_]+))"/g)]
      .map(([, event = ""]) => event)
      .filter((event) => /^(device|person|browser|passkey|connection|rule|app|trigger)\./.test(event)),
  );
  expect(written).toEqual(expect.arrayContaining(["device.revoked", "person.signed_in", "passkey.added"]));
  expect([...new Set(written)].filter((event) => !text.includes(`\`${event}\``))).toEqual([]);
});

describe("the files for other programs", () => {
  test("start the service as it can be started, and let it stop", () => {
    const unit = findFence("ini");
    const [, line = ""] = /^ExecStart=\/usr\/local\/bin\/svc serve (.*)$/m.exec(unit) ?? [];
    const flags = [...line.matchAll(/--[a-z-]+/g)].map(([flag]) => flag);
    const known = listCommands().commands.find((command) => command.name() === "serve")?.options;
    expect(flags.length).toBeGreaterThan(0);
    expect(known?.map(({ long }) => long)).toEqual(expect.arrayContaining(flags));
    // A running action has a minute, its answer five seconds, and a step of a flow that began meanwhile a minute more.
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(125);
    const sections = unit.split("\n").filter((text) => text !== "" && !/^(\[\w+\]|[A-Z]\w+=.*)$/.test(text));
    expect(sections).toEqual([]);
    // Settings that are wrong stay wrong; a database that is not there yet comes.
    expect(unit).toContain(`\nRestartPreventExitStatus=${EXIT.usage}\n`);
    // What it may write lies in folders that systemd makes; a home folder is hidden from it.
    const [, home = ""] = /^Environment=HOME=(\S+)/m.exec(unit) ?? [];
    expect(home).toBe(`/var/cache/${/^CacheDirectory=(.+)$/m.exec(unit)?.[1]}`);
    expect(line).toContain(`--data /var/lib/${/^StateDirectory=(.+)$/m.exec(unit)?.[1]}`);
    expect(unit).not.toContain("MemoryDenyWriteExecute");
  });

  test("let the largest request through, and the host's name", () => {
    const nginx = findFence("nginx");
    const [, megabytes] = /client_max_body_size (\d+)m;/.exec(nginx) ?? [];
    expect(Number(megabytes) * 2 ** 20).toBeGreaterThan((MAX_REQUEST_FILE_BYTES * 4) / 3);
    expect(nginx).toContain("proxy_set_header Host $http_host;");
    expect(nginx.split("{")).toHaveLength(nginx.split("}").length);
    const apache = findFence("apache");
    expect(Number(/LimitRequestBody (\d+)$/m.exec(apache)?.[1])).toBeGreaterThan((MAX_REQUEST_FILE_BYTES * 4) / 3);
    expect(apache).toContain("ProxyPreserveHost On");
  });
});

test("the program prints what the page says", async () => {
  const { code, prints } = fences.find(({ language }) => language === "js") ?? { code: "", prints: "" };
  expect(await runBlock(code, { SVC_DATA: join(await makeFolder(), "data") })).toBe(prints);
});

test("the commands work, typed one after another", async () => {
  const operator = new Operator(await makeFolder(), await findFreePort());
  try {
    for (const { name, code } of fences.filter(({ language }) => language === "sh")) {
      for (const line of code.trim().split("\n")) await operator.type(line, name);
    }
    const described = readTable(PAGE, "What is stored where").flatMap(([names = ""]) => names.split(", "));
    const found = operator.stored.filter((name) => !/\.db-(wal|shm|journal)$/.test(name));
    expect(found).toEqual(expect.arrayContaining(["svc.db", "connection-secrets.key", "drive"]));
    expect(found.filter((name) => !described.some((one) => one.startsWith(name)))).toEqual([]);
  } finally {
    await operator.stop();
  }
}, 180_000);

/** Types the commands of the page into a shell, with a folder and a port of its own in the place of the usual ones. */
class Operator {
  readonly #home: string;
  readonly #port: number;
  readonly #env: Record<string, string> = {};
  #service: WatchedProcess | undefined;
  /** What was in the data folder while the service ran. */
  stored: string[] = [];

  constructor(home: string, port: number) {
    this.#home = home;
    this.#port = port;
  }

  async type(line: string, name: string): Promise<void> {
    const [command = "", ...args] = line
      .replace(/^sudo -u svc /, "")
      .replaceAll("/var/lib/svc", join(this.#home, "service"))
      .split(" ");
    if (command === "svc" && args[0] === "serve") return this.#serve(args);
    if (line === "svc pair") return this.#pair();
    if (command === "svc") return this.#svc(args, name);
    if (command === "export") {
      expect(line).toBe('export SVC_SECRET="$(openssl rand -base64 32)"');
      this.#env.SVC_SECRET = randomBytes(32).toString("base64");
      return;
    }
    if (command === "curl") {
      const { status } = await fetch(line.replace("curl --fail ", "").replace(":8790", `:${this.#port}`));
      expect(status, name).toBe(200);
      return;
    }
    await this.stop();
    await this.#shell(line, name);
  }

  /** Ends the service as a person would. */
  async stop(): Promise<void> {
    const service = this.#service;
    if (service === undefined) return;
    this.stored = [...new Set([...this.stored, ...(await readdir(join(this.#home, "service")))])];
    this.#service = undefined;
    service.kill("SIGTERM");
    expect(await service.done).toMatchObject({ code: 0 });
  }

  async #serve(args: readonly string[]): Promise<void> {
    await this.stop();
    this.#service = startSvc([...args, "--port", String(this.#port)], this.#home, this.#env);
    await this.#service.waitFor(/Listening on \S+/);
    await this.#service.waitFor(/Sign in: \S+/);
  }

  /** Pairs, and leaves a note and a flow in the service. */
  async #pair(): Promise<void> {
    const signInUrl = (await this.#service?.waitFor(/Sign in: (\S+)/))?.[1] ?? "";
    const running = startSvc(["pair", "--base-url", `http://127.0.0.1:${this.#port}`], this.#home);
    const pairUrl = (await running.waitFor(/device: (\S+)/))[1] ?? "";
    await decideAsOwner({ signInUrl, pairUrl, decision: "approve" });
    expect(await running.done).toMatchObject({ code: 0 });
    const input = '{"text":"Water the plants","delaySeconds":1}';
    await this.#svc(["flows", "start", "notes_reminder", "--detach", "--input", input], "a flow");
    await writeFile(join(this.#home, "service/drive/kept.txt"), "before the backup");
  }

  async #svc(args: readonly string[], name: string): Promise<void> {
    // After the restoring, the key that was made before the backup still works, and the files are there.
    if (args[0] === "unpair") {
      const listed = await runSvc(["call", "drive_list_files", "--json"], this.#home);
      expect(listed.stdout, listed.stderr).toContain("kept.txt");
    }
    if (args.includes("--replace")) {
      await this.stop();
      await rm(join(this.#home, "service/drive/kept.txt"));
    }
    const placed = args.map((arg) => (/\.(?:ndjson|gz)$/.test(arg) ? join(this.#home, arg) : arg));
    const run = await runSvc(placed, this.#home);
    expect(run, `${name}: svc ${args.join(" ")}\n${run.stderr}`).toMatchObject({ code: 0 });
  }

  async #shell(line: string, name: string): Promise<void> {
    const command = line.replaceAll("~/.local/share/svc", this.#home);
    const { done } = watchProcess("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH }, cwd: this.#home });
    const run = await done;
    expect(run, `${name}: ${line}\n${run.stderr}`).toMatchObject({ code: 0 });
  }
}
