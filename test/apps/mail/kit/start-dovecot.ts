import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { ImapFlow } from "imapflow";
import { findFreePort } from "../../../service/free-port.ts";

/** A real IMAP server in a temporary folder. */
export interface TestDovecot {
  /** Accepts TLS at once. */
  readonly tlsPort: number;
  /** Accepts no TLS, or TLS after STARTTLS. */
  readonly port: number;
  /** Certificate of the server for `localhost` and 127.0.0.1, PEM; nobody else vouches for it. */
  readonly ca: string;
  readonly key: string;
  /** Access tokens that are valid, with their users. */
  readonly tokens: Map<string, string>;
  /** The user of an access token, undefined for one that is not valid: from `tokens`, else from a provider. */
  findUser(token: string): Promise<string | undefined>;
  /** Puts a message into a folder as another program would. */
  deliver(user: TestUser, message: string | Buffer, o?: DeliverOptions): Promise<void>;
  /** Everything a folder holds, oldest first. */
  list(user: TestUser, folder?: string): Promise<{ flags: string[]; source: string }[]>;
  /** Does something as another program would. */
  asClient<T>(user: TestUser, work: (client: ImapFlow) => Promise<T>): Promise<T>;
  /** Removes all mail of a user and the folders he made. */
  empty(user: TestUser): Promise<void>;
  stop(): Promise<void>;
  /** Starts it again on the same ports; its mail stays. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface DeliverOptions {
  readonly folder?: string;
  readonly flags?: string[];
  readonly at?: Date;
}

export type TestUser = "ana" | "bob";

/** Passwords of the users. `ana` may keep little: see `quota` of {@link startDovecot}. */
export const PASSWORDS: Readonly<Record<TestUser, string>> = { ana: "ana's pass wörd", bob: "bob-secret" };

const DOVECOT = "/usr/sbin/dovecot";
const OPENSSL = "openssl";

/** A certificate of its own for `localhost`, by the program openssl. */
export function makeCertificate(folder: string, names = "DNS:localhost,IP:127.0.0.1"): { key: string; cert: string } {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", `subjectAltName=${names}`, "-days", "2", "-nodes"];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  execFileSync(OPENSSL, ["req", ...kind, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}

/** Dovecot does not serve mail of root: then everything belongs to the user its package makes. */
function chooseUser(): { uid?: number; gid?: number; user: string; group: string } {
  const name = process.getuid?.() === 0 ? "dovecot" : userInfo().username;
  const read = (...flags: string[]) => execFileSync("id", [...flags, name], { encoding: "utf8" }).trim();
  const [user, group] = [read("-un"), read("-gn")];
  return process.getuid?.() === 0 ? { uid: Number(read("-u")), gid: Number(read("-g")), user, group } : { user, group };
}

/**
 * Starts a server with the users `ana` and `bob`, who may also sign in by their addresses.
 *
 * @param o.quota most kilobytes a user may keep; no limit without it.
 * @param o.inspect asks a sign-in provider whose a token is.
 * @param o.capabilities all that the server says it can, in place of what it can.
 */
export async function startDovecot(
  o: {
    readonly quota?: number;
    readonly inspect?: (token: string) => Promise<string | undefined>;
    readonly capabilities?: string;
  } = {},
): Promise<TestDovecot> {
  if (!existsSync(DOVECOT)) throw new Error("Dovecot is not installed.");
  const folder = mkdtempSync(join(tmpdir(), "svc-dovecot-"));
  const who = chooseUser();
  const [port, tlsPort] = [await findFreePort(), await findFreePort()];
  const { cert, key } = makeCertificate(folder);
  const tokens = new Map<string, string>();
  const findUser: TestDovecot["findUser"] = async (token) => tokens.get(token) ?? (await o.inspect?.(token));
  const tokenServer = await serveTokens(findUser);
  for (const name of ["base", "state", "mail"]) mkdirSync(join(folder, name));
  const users = Object.entries(PASSWORDS).map(([user, password]) => `${user}:{PLAIN}${password}::::::`);
  writeFileSync(join(folder, "users"), `${users.join("\n")}\n`);
  writeFileSync(join(folder, "oauth2.conf"), describeTokens(tokenServer));
  writeFileSync(
    join(folder, "dovecot.conf"),
    describeServer({ folder, port, tlsPort, ...who, quota: o.quota, capabilities: o.capabilities }),
  );
  hand(folder, who);
  let server: ChildProcess | undefined;
  const stop = async () => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGTERM");
    await once(server, "exit");
  };
  const start = async () => {
    const identity = who.uid === undefined ? {} : { uid: who.uid, gid: who.gid };
    server = spawn(DOVECOT, ["-F", "-c", join(folder, "dovecot.conf")], { ...identity, cwd: folder, stdio: "ignore" });
    await waitForPort(tlsPort, server, join(folder, "log"));
  };
  const close = async () => {
    await stop();
    tokenServer.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await close();
    throw error;
  }
  const asClient: TestDovecot["asClient"] = async (user, work) => {
    const auth = { user, pass: PASSWORDS[user] };
    const client = new ImapFlow({ host: "127.0.0.1", port, secure: false, doSTARTTLS: false, auth, logger: false });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.logout();
    }
  };
  return {
    port,
    tlsPort,
    ca: cert,
    key,
    tokens,
    findUser,
    asClient,
    deliver: (user, message, { folder: name = "INBOX", flags = [], at } = {}) =>
      asClient(user, async (client) => {
        await client.append(name, message, flags, at);
      }),
    list: (user, name = "INBOX") =>
      asClient(user, async (client) => {
        const lock = await client.getMailboxLock(name);
        try {
          if (client.mailbox === false || client.mailbox.exists === 0) return [];
          const found = await client.fetchAll("1:*", { source: true, flags: true });
          return found.map(({ source, flags = new Set() }) => ({
            flags: [...flags].filter((flag) => flag !== "\\Recent").sort(),
            source: source?.toString("latin1") ?? "",
          }));
        } finally {
          lock.release();
        }
      }),
    empty: (user) => asClient(user, emptyMailbox),
    start,
    stop,
    close,
  };
}

/** Removes all mail of whoever is signed in, and the folders they made. */
export async function emptyMailbox(client: ImapFlow): Promise<void> {
  for (const { path, flags } of (await client.list()).reverse()) {
    if ([...flags].some((flag) => /noselect/i.test(flag))) continue;
    const lock = await client.getMailboxLock(path);
    await client.messageDelete("1:*");
    lock.release();
    await client.mailboxClose();
    if (!["INBOX", "Sent", "Drafts", "Junk", "Trash"].includes(path)) await client.mailboxDelete(path);
  }
}

function hand(path: string, { uid, gid }: { uid?: number; gid?: number }): void {
  if (uid === undefined || gid === undefined) return;
  chownSync(path, uid, gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) hand(join(path, entry.name), { uid, gid });
    else chownSync(join(path, entry.name), uid, gid);
  }
}

/** Answers as the token endpoint of a sign-in provider does. */
async function serveTokens(findUser: TestDovecot["findUser"]): Promise<Server> {
  const server = createServer(async (request, response) => {
    const user = await findUser(new URL(request.url ?? "/", "http://localhost").searchParams.get("t") ?? "");
    response.writeHead(user === undefined ? 401 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(user === undefined ? { error: "invalid_token" } : { email: user }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function describeTokens(server: Server): string {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return `tokeninfo_url = http://127.0.0.1:${port}/?t=\nintrospection_mode = auth\nusername_attribute = email\n`;
}

function describeServer(o: {
  folder: string;
  port: number;
  tlsPort: number;
  user: string;
  group: string;
  quota: number | undefined;
  capabilities: string | undefined;
}): string {
  const { folder, user, group } = o;
  const special = ["Sent", "Drafts", "Junk", "Trash"].map(
    (name) => `  mailbox ${name} {\n    special_use = \\${name}\n    auto = create\n  }`,
  );
  const quota =
    o.quota === undefined
      ? ""
      : `mail_plugins = quota
plugin {
  quota = maildir:User quota
  quota_rule = *:storage=${o.quota}K
}
protocol imap {
  mail_plugins = quota imap_quota
}`;
  const capabilities = o.capabilities === undefined ? "" : `imap_capability = ${o.capabilities}`;
  return `base_dir = ${folder}/base
state_dir = ${folder}/state
protocols = imap
listen = 127.0.0.1
log_path = ${folder}/log
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
mail_location = maildir:${folder}/mail/%u
mail_uid = ${user}
mail_gid = ${group}
first_valid_uid = 1
mail_fsync = never
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
disable_plaintext_auth = no
auth_failure_delay = 0
auth_mechanisms = plain login xoauth2 oauthbearer
auth_username_format = %n
passdb {
  driver = passwd-file
  args = ${folder}/users
  mechanisms = plain login
}
passdb {
  driver = oauth2
  args = ${folder}/oauth2.conf
  mechanisms = xoauth2 oauthbearer
}
userdb {
  driver = static
  args = uid=${user} gid=${group} home=${folder}/mail/%u
}
namespace inbox {
  inbox = yes
  separator = /
${special.join("\n")}
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${o.port}
  }
  inet_listener imaps {
    port = ${o.tlsPort}
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
service auth {
  user = ${user}
}
service auth-worker {
  user = ${user}
}
${quota}
${capabilities}
`;
}

async function waitForPort(port: number, server: ChildProcess, log: string): Promise<void> {
  for (let tries = 0; tries < 300 && server.exitCode === null; tries++) {
    if (await answers(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Dovecot did not start: ${existsSync(log) ? readFileSync(log, "utf8") : "no log"}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => socket.destroy());
    socket.once("connect", () => socket.end());
  });
}
