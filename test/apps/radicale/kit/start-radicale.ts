import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../../../service/free-port.ts";
import type { HttpAnswer } from "../../contract/http-faults.ts";

/** How the line answers a request; `lose` passes it on, and breaks off in place of the answer. */
type LineAnswer = HttpAnswer & { readonly lose?: true };

/** What the line to the server does with a request; undefined: it passes, once the rule has ended. */
type LineRule = (request: LineRequest) => LineAnswer | undefined | Promise<LineAnswer | undefined>;

interface LineRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

/** A real CalDAV and CardDAV server in a temporary folder, behind a line that can be disturbed. */
export interface TestRadicale {
  /** Address of the line. */
  readonly url: string;
  /** Name and password of the one user. */
  readonly user: string;
  readonly password: string;
  /** Every request that came through the line, as "METHOD /path"; the test may empty it. */
  readonly seen: string[];
  /** Does something as another program would, past the line. */
  ask(
    method: string,
    path: string,
    body?: string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; text: string; etag: string | null }>;
  disturb(rule: LineRule): void;
  /** Stops listening on the line. */
  stop(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

const RADICALE = "radicale";
const USER = "ana";
const PASSWORD = "ana's pass wörd";

/** Starts a server with the calendars "personal" and "work" and the address book "people". */
export async function startRadicale(): Promise<TestRadicale> {
  const folder = await mkdtemp(join(tmpdir(), "svc-radicale-"));
  const port = await findFreePort();
  await writeFile(join(folder, "users"), `${USER}:${PASSWORD}\n`);
  await writeFile(join(folder, "config"), describeServer(folder, port));
  const server = spawn(RADICALE, ["--config", join(folder, "config")], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  server.stderr.on("data", (data) => {
    log = `${log}${data}`.slice(-4000);
  });
  const origin = `http://127.0.0.1:${port}`;
  const authorization = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`;
  const ask: TestRadicale["ask"] = async (method, path, body, headers = {}) => {
    const sent = body === undefined ? {} : { body };
    const reply = await fetch(`${origin}${path}`, { method, headers: { authorization, ...headers }, ...sent });
    return { status: reply.status, text: await reply.text(), etag: reply.headers.get("etag") };
  };
  const close = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill("SIGKILL");
      await once(server, "exit");
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilUp(origin, server, () => log);
    for (const name of ["personal", "work"]) await makeCalendar(ask, name);
    await makeAddressBook(ask, "people");
  } catch (error) {
    await close();
    throw error;
  }
  const line = await openLine(port);
  return {
    ...line,
    user: USER,
    password: PASSWORD,
    ask,
    close: async () => {
      await line.stop();
      await close();
    },
  };
}

function describeServer(folder: string, port: number): string {
  return `[server]
hosts = 127.0.0.1:${port}
[auth]
type = htpasswd
htpasswd_filename = ${folder}/users
htpasswd_encryption = plain
delay = 0
[rights]
type = owner_only
[storage]
filesystem_folder = ${folder}/collections
[web]
type = none
[logging]
level = warning
`;
}

async function waitUntilUp(origin: string, server: ChildProcess, readLog: () => string): Promise<void> {
  for (let tries = 0; tries < 600 && server.exitCode === null; tries += 1) {
    const reply = await fetch(origin, { redirect: "manual" }).catch(() => undefined);
    await reply?.arrayBuffer();
    if (reply !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Radicale did not start: ${readLog()}`);
}

async function makeCalendar(ask: TestRadicale["ask"], name: string): Promise<void> {
  const made = await ask(
    "MKCALENDAR",
    `/${USER}/${name}/`,
    `<?xml version="1.0"?><c:mkcalendar xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:d="DAV:"><d:set><d:prop>
<d:displayname>My ${name}</d:displayname>
<c:supported-calendar-component-set><c:comp name="VEVENT"/></c:supported-calendar-component-set>
</d:prop></d:set></c:mkcalendar>`,
  );
  if (made.status !== 201) throw new Error(`No calendar: ${made.status} ${made.text}`);
}

async function makeAddressBook(ask: TestRadicale["ask"], name: string): Promise<void> {
  const made = await ask(
    "MKCOL",
    `/${USER}/${name}/`,
    `<?xml version="1.0"?><d:mkcol xmlns:d="DAV:" xmlns:card="urn:ietf:params:xml:ns:carddav"><d:set><d:prop>
<d:resourcetype><d:collection/><card:addressbook/></d:resourcetype><d:displayname>My ${name}</d:displayname>
</d:prop></d:set></d:mkcol>`,
  );
  if (made.status !== 201) throw new Error(`No address book: ${made.status} ${made.text}`);
}

/** A line that passes requests on unless a rule answers them. */
async function openLine(target: number) {
  let rule: LineRule = () => undefined;
  const seen: string[] = [];
  const open = (port: number) =>
    new Promise<ReturnType<typeof createServer>>((resolve) => {
      const server = createServer((incoming, outgoing) => {
        const { method = "", url: path = "" } = incoming;
        seen.push(`${method} ${path}`);
        void (async () => {
          const answer = await rule({ method, path, headers: incoming.headers });
          if (answer === undefined || answer.lose) pass(incoming, outgoing, target, answer?.lose);
          else await reply(incoming, outgoing, answer);
        })();
      });
      server.listen(port, "127.0.0.1", () => resolve(server));
    });
  let server = await open(0);
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    disturb(next: LineRule) {
      rule = next;
    },
    stop,
    async resume() {
      if (!server.listening) server = await open(port);
    },
  };
}

function pass(incoming: IncomingMessage, outgoing: ServerResponse, port: number, isLost = false): void {
  const { method, url, headers } = incoming;
  const onward = request({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
    if (isLost) return void answer.resume().on("end", () => outgoing.destroy());
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on("error", () => outgoing.destroy());
  incoming.pipe(onward);
}

async function reply(incoming: IncomingMessage, outgoing: ServerResponse, answer: HttpAnswer): Promise<void> {
  for await (const _ of incoming);
  if (answer.hang === true) return;
  if (answer.drop === true) return void outgoing.destroy();
  outgoing.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
}
