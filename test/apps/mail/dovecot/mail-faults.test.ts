import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import type { Integration } from "../../../../src/apps/port/integration.ts";
import { readAllowedHosts } from "../../../../src/service/fetch/address-rules.ts";
import { createRunner, refusal } from "../../run-action.ts";
import { openProxy, type TestProxy } from "../kit/open-proxy.ts";
import { makeCertificate, PASSWORDS, startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";
import { writeMessage } from "../kit/write-message.ts";

let dovecot: TestDovecot;
let smtp: TestSmtp;
let proxy: TestProxy;
let integration: Integration;

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
});
afterAll(async () => {
  await smtp?.close();
  await dovecot?.close();
});
beforeEach(async () => {
  integration = createMailIntegration();
  proxy = await openProxy(dovecot.port);
  await dovecot.deliver("ana", writeMessage({ subject: "one" }));
});
afterEach(async () => {
  await integration.close?.();
  await proxy.close();
  dovecot.tokens.clear();
  await dovecot.empty("ana");
});

/** Through the cable and without TLS, so that the test can see what is sent. */
const throughProxy = () => ({ imapHost: `127.0.0.1:${proxy.port}`, imapSecurity: "plain" });
function createSettings(extra: Record<string, unknown> = {}) {
  return {
    address: ADDRESSES.ana,
    imapHost: `127.0.0.1:${dovecot.tlsPort}`,
    imapSecurity: "tls",
    smtpHost: `127.0.0.1:${smtp.port}`,
    smtpSecurity: "tls",
    user: "ana",
    password: PASSWORDS.ana,
    ca: dovecot.ca,
    ...extra,
  };
}
const run = (extra: Record<string, unknown> = {}, signal?: AbortSignal) =>
  createRunner(integration, { settings: createSettings(extra), now: Date.now, ...(signal && { signal }) });
const message = { to: [ADDRESSES.bob], subject: "S", body: "B" };
const facts = ({ status, code, options }: Awaited<ReturnType<typeof refusal>>) => [
  status,
  code,
  options.retryable ?? false,
];
const findOne = async (extra: Record<string, unknown> = throughProxy()) =>
  (await run(extra)("search", {})).messages[0].message_id as string;

async function listen(onSocket: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    onSocket(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { server, port: typeof address === "object" ? (address?.port ?? 0) : 0 };
}

describe("signing in", () => {
  it("a wrong password answers 401 and names the setting", async () => {
    for (const [id, args] of [
      ["search", {}],
      ["send_message", message],
      ["save_draft", message],
    ] as const) {
      const error = await refusal(run({ password: "wrong" })(id, args));
      expect(facts(error)).toEqual([401, "needs_reauth", false]);
      expect([error.options.extra, error.options.hint]).toEqual([
        { setting: "password" },
        expect.stringContaining("app password"),
      ]);
      expect(error.message).not.toContain("wrong");
    }
  });

  it("takes an access token for both servers, and answers 401 when it has expired", async () => {
    dovecot.tokens.set("fresh", "ana");
    const token = { signIn: "token", password: "fresh" };
    expect((await run(token)("search", {})).messages).toHaveLength(1);
    smtp.taken.length = 0;
    await run(token)("send_message", message);
    expect(smtp.taken).toHaveLength(1);
    await integration.close?.();
    dovecot.tokens.delete("fresh");
    const error = await refusal(run(token)("search", {}));
    expect(facts(error)).toEqual([401, "needs_reauth", false]);
    expect(error.options.hint).toContain("access token");
  });

  it("an outgoing server that refuses the sign-in sends nothing", async () => {
    const strict = await startSmtp(dovecot, {
      options: {
        onAuth: (_auth, _session, done) => done(Object.assign(new Error("5.7.8 no"), { responseCode: 535 })),
      },
    });
    try {
      const error = await refusal(run({ smtpHost: `127.0.0.1:${strict.port}` })("send_message", message));
      expect(facts(error)).toEqual([401, "needs_reauth", false]);
      dovecot.tokens.set("half", "ana");
      const token = { signIn: "token", password: "half", smtpHost: `127.0.0.1:${strict.port}` };
      expect(facts(await refusal(run(token)("send_message", message)))).toEqual([401, "needs_reauth", false]);
      expect(await dovecot.list("ana", "Sent")).toEqual([]);
    } finally {
      await strict.close();
    }
  });
});

describe("encryption", () => {
  it("STARTTLS works with both servers", async () => {
    const offering = await startSmtp(dovecot, { secure: false });
    try {
      const extra = {
        imapHost: `127.0.0.1:${proxy.port}`,
        imapSecurity: "automatic",
        smtpHost: `127.0.0.1:${offering.port}`,
        smtpSecurity: "starttls",
      };
      expect((await run(extra)("search", {})).messages).toHaveLength(1);
      expect(proxy.sent.join("")).toContain("STARTTLS");
      expect(proxy.sent.join("")).not.toMatch(/AUTHENTICATE|LOGIN/);
      await run(extra)("send_message", message);
      expect(offering.taken).toHaveLength(1);
    } finally {
      await offering.close();
    }
  });

  it("nothing is told to a server that does not begin the encryption it must", async () => {
    const bare = await startSmtp(dovecot, {
      secure: false,
      options: { hideSTARTTLS: true, disabledCommands: ["STARTTLS"] },
    });
    const said: string[] = [];
    const { server, port } = await listen((socket) => {
      socket.write("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] ready\r\n");
      socket.on("data", (piece) => {
        said.push(piece.toString());
        socket.write(`${piece.toString().split(" ")[0]} OK done\r\n`);
      });
    });
    try {
      const imap = await refusal(run({ imapHost: `127.0.0.1:${port}`, imapSecurity: "starttls" })("search", {}));
      expect([imap.status, imap.options.extra]).toEqual([422, { setting: "imapHost" }]);
      expect(said.join("")).not.toMatch(/AUTH|LOGIN/);
      const extra = { smtpHost: `127.0.0.1:${bare.port}`, smtpSecurity: "starttls" };
      const error = await refusal(run(extra)("send_message", message));
      expect([error.status, error.options.extra]).toEqual([422, { setting: "smtpHost" }]);
      expect(bare.taken).toEqual([]);
    } finally {
      server.close();
      await bare.close();
    }
  });

  it("names what is wrong with a certificate", async () => {
    const strange = await refusal(run({ ca: undefined })("search", {}));
    expect([strange.status, strange.options.extra]).toEqual([422, { setting: "imapHost" }]);
    expect(strange.message).toContain("signed by itself.");
    const folder = await mkdtemp(join(tmpdir(), "svc-cert-"));
    const { key, cert } = makeCertificate(folder, "DNS:other.example");
    const other = await startSmtp({ ...dovecot, key, ca: cert });
    try {
      const extra = { smtpHost: `127.0.0.1:${other.port}` };
      const unknown = await refusal(run(extra)("send_message", message));
      expect([unknown.status, unknown.options.extra]).toEqual([422, { setting: "smtpHost" }]);
      expect(unknown.message).toContain("signed by itself");
      const misnamed = await refusal(run({ ...extra, ca: dovecot.ca + cert })("send_message", message));
      expect(misnamed.message).toContain("belongs to another server name");
      expect(other.taken).toEqual([]);
    } finally {
      await other.close();
      await rm(folder, { recursive: true });
    }
  });

  it("does without encryption only on this machine, and where the owner allowed it", async () => {
    expect((await run(throughProxy())("search", {})).messages).toHaveLength(1);
    const settings = createSettings({ imapHost: "mail.example.org", imapSecurity: "plain" });
    const error = await refusal(integration.checkSettings(settings));
    expect([error.status, error.options.extra]).toEqual([422, { setting: "imapSecurity" }]);
    expect(error.message).toContain("--allow-host mail.example.org:143");
    await createMailIntegration({ allowed: readAllowedHosts(["mail.example.org:143"]) }).checkSettings(settings);
  });

  it("takes a certificate whose line breaks a form has removed", async () => {
    expect((await run({ ca: dovecot.ca.replaceAll("\n", " ") })("search", {})).messages).toHaveLength(1);
  });
});

describe("settings", () => {
  it("names the one that is wrong", async () => {
    for (const [extra, setting] of [
      [{ imapHost: "https://mail.example.org" }, "imapHost"],
      [{ imapHost: "mail.example.org:0" }, "imapHost"],
      [{ smtpHost: "a b" }, "smtpHost"],
      [{ imapSecurity: "some" }, "imapSecurity"],
      [{ smtpSecurity: "plain", smtpHost: "smtp.example.org" }, "smtpSecurity"],
      [{ password: undefined }, "password"],
      [{ user: "a\nb" }, "user"],
      [{ signIn: "magic" }, "signIn"],
      [{ ca: "MII" }, "ca"],
      [{ address: "ana" }, "address"],
      [{ maildir: "/tmp" }, "maildir"],
    ] as const) {
      const error = await refusal(integration.checkSettings(createSettings(extra)));
      expect([error.status, error.code, error.options.extra]).toEqual([422, "integration_misconfigured", { setting }]);
    }
    await integration.checkSettings(createSettings());
  });

  it("tries the sign-in at both servers when the owner connects", async () => {
    const test = (extra: Record<string, unknown>, signal = AbortSignal.timeout(10_000)) =>
      integration.testSettings?.(createSettings(extra), signal) ?? Promise.resolve();
    await test({});
    await test({ smtpHost: undefined });
    const { server, port } = await listen(() => undefined);
    try {
      for (const [extra, setting, text] of [
        [{ password: "wrong" }, "password", "refused user and password"],
        [{ imapHost: "127.0.0.1:1" }, "imapHost", "cannot be reached"],
        [{ smtpHost: "127.0.0.1:1" }, "smtpHost", "cannot be reached"],
        [{ ca: undefined }, "imapHost", "signed by itself"],
        [{ imapHost: `127.0.0.1:${dovecot.port}` }, "imapHost", "does not speak TLS"],
        [{ smtpHost: `127.0.0.1:${dovecot.port}` }, "smtpHost", "does not speak TLS"],
      ] as const) {
        const error = await refusal(test(extra));
        expect([error.status, error.options.extra]).toEqual([422, { setting }]);
        expect(error.message).toContain(text);
      }
      const silent = await refusal(test({ imapHost: `127.0.0.1:${port}` }, AbortSignal.timeout(200)));
      expect([silent.status, silent.options.extra]).toEqual([422, { setting: "imapHost" }]);
      expect(silent.message).toContain("did not answer in time");
    } finally {
      server.close();
    }
  });
});

describe("one connection", () => {
  it("serves an account's calls one after another, and is closed with the integration", async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => run(throughProxy())("search", {})));
    expect(answers.map(({ messages }) => messages.length)).toEqual([1, 1, 1, 1, 1]);
    expect([proxy.count, proxy.open.size]).toEqual([1, 1]);
    await integration.close?.();
    await proxy.whenEmpty();
    expect(proxy.sent.join("")).toContain("LOGOUT");
    expect((await run(throughProxy())("search", {})).messages).toHaveLength(1);
  });

  it("is closed when nobody has used it for a while", async () => {
    integration = createMailIntegration({ idleMs: 20 });
    await run(throughProxy())("search", {});
    await proxy.whenEmpty();
    expect((await run(throughProxy())("search", {})).messages).toHaveLength(1);
    expect(proxy.count).toBe(2);
  });

  it("sees what another program delivered meanwhile", async () => {
    await findOne();
    await dovecot.deliver("ana", writeMessage({ subject: "two" }));
    expect((await run(throughProxy())("search", {})).messages).toHaveLength(2);
    expect(proxy.count).toBe(1);
  });

  it("is opened again after it was cut between two calls, for reads and for changes", async () => {
    const id = await findOne();
    proxy.cut();
    await proxy.whenEmpty();
    expect((await run(throughProxy())("read_message", { message_id: id })).subject).toBe("one");
    proxy.cut();
    await run(throughProxy())("mark_message", { message_ids: [id], as: "flagged" });
    expect((await dovecot.list("ana"))[0]?.flags).toEqual(["\\Flagged"]);
  });

  it("is opened again after the server was restarted; meanwhile calls answer 503", async () => {
    const id = await findOne();
    proxy.cut();
    await dovecot.stop();
    for (const [name, args] of [
      ["search", {}],
      ["delete_message", { message_ids: [id], subjects: ["one"] }],
      ["send_message", message],
    ] as const)
      expect(facts(await refusal(run(throughProxy())(name, args)))).toEqual([503, "provider_unavailable", true]);
    await dovecot.start();
    expect((await run(throughProxy())("read_message", { message_id: id })).subject).toBe("one");
  });

  it("a read that was cut in the middle is done again once", async () => {
    const id = await findOne();
    let cuts = 0;
    proxy.rule = (text) => (text.includes("BODY.PEEK[]") && cuts++ === 0 ? "cut" : undefined);
    expect((await run(throughProxy())("read_message", { message_id: id })).subject).toBe("one");
    expect(cuts).toBe(2);
    proxy.rule = (text) => (text.includes("BODY.PEEK[]") ? "cut" : undefined);
    expect(facts(await refusal(run(throughProxy())("read_message", { message_id: id })))).toEqual([
      503,
      "provider_unavailable",
      true,
    ]);
  });

  it("a change that was cut in the middle is not done again: unknown, or repeatable by the caller", async () => {
    const id = await findOne();
    const cutAt = (word: string) => {
      proxy.rule = (text) => (text.includes(word) ? "cut" : undefined);
    };
    cutAt("UID MOVE");
    const deleted = await refusal(run(throughProxy())("delete_message", { message_ids: [id], subjects: ["one"] }));
    expect(facts(deleted)).toEqual([500, "outcome_unknown", false]);
    const moved = await refusal(
      run(throughProxy())("move_message", { message_ids: [id], subjects: ["one"], folder: "Archive" }),
    );
    expect(facts(moved)).toEqual([503, "provider_unavailable", true]);
    cutAt("APPEND");
    expect(facts(await refusal(run(throughProxy())("save_draft", message)))).toEqual([500, "outcome_unknown", false]);
    cutAt("UID STORE");
    const marked = await refusal(run(throughProxy())("mark_message", { message_ids: [id], as: "read" }));
    expect(facts(marked)).toEqual([503, "provider_unavailable", true]);
    expect(proxy.sent.join("")).not.toMatch(/UID MOVE|APPEND|UID STORE/);
  });

  it("a slow server is left when the call is aborted, and the next call gets a new connection", async () => {
    const id = await findOne();
    const aborter = new AbortController();
    const held = new Promise<void>((resolve) => {
      proxy.rule = (text) => {
        if (!text.includes("BODY.PEEK[]")) return undefined;
        resolve();
        return "hold";
      };
    });
    const reading = run(throughProxy(), aborter.signal)("read_message", { message_id: id });
    await held;
    aborter.abort(new Error("too slow"));
    await expect(reading).rejects.toThrow("too slow");
    await proxy.whenEmpty();
    proxy.rule = () => undefined;
    expect((await run(throughProxy())("read_message", { message_id: id })).subject).toBe("one");
  });

  it("calls that wait for their turn can be aborted", async () => {
    const aborter = new AbortController();
    await findOne();
    proxy.rule = () => "hold";
    const first = run(throughProxy(), aborter.signal)("search", {});
    const second = run(throughProxy(), aborter.signal)("search", {});
    aborter.abort(new Error("enough"));
    const enough = { status: "rejected", reason: new Error("enough") };
    expect(await Promise.allSettled([first, second])).toEqual([enough, enough]);
  });
});

describe("servers that talk nonsense", () => {
  const cases: [string, (socket: Socket) => void, [number, string, boolean]][] = [
    ["another protocol", (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"), [503, "provider_unavailable", true]],
    ["a wall of text", (socket) => socket.end("x".repeat(100_000)), [503, "provider_unavailable", true]],
    ["a closed door", (socket) => socket.destroy(), [503, "provider_unavailable", true]],
    ["a goodbye", (socket) => socket.end("* BYE too many connections\r\n"), [503, "provider_unavailable", true]],
    ["nonsense later", (socket) => talk(socket, "what OK is this\r\n", "HELLO"), [500, "provider_error", false]],
    ["a refusal", (socket) => talk(socket, "", "NO [SERVERBUG] ill"), [503, "provider_unavailable", true]],
    ["no permission", (socket) => talk(socket, "", "NO [NOPERM] not you"), [403, "forbidden", false]],
    ["a BAD", (socket) => talk(socket, "", "BAD what?"), [500, "provider_error", false]],
  ];
  it.each(cases)("%s", async (_name, onSocket, expected) => {
    const { server, port } = await listen(onSocket);
    try {
      const extra = { imapHost: `127.0.0.1:${port}`, imapSecurity: "plain" };
      const error = await refusal(run(extra)("search", {}));
      expect(facts(error)).toEqual(expected);
      expect(JSON.stringify([error.message, error.options])).not.toContain(PASSWORDS.ana);
    } finally {
      await integration.close?.();
      server.close();
    }
  });

  it("an outgoing server that talks nonsense got nothing", async () => {
    const { server, port } = await listen((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    try {
      const error = await refusal(
        run({ smtpHost: `127.0.0.1:${port}`, smtpSecurity: "plain" })("send_message", message),
      );
      expect(facts(error)).toEqual([503, "provider_unavailable", true]);
    } finally {
      server.close();
    }
  });
});

it("a message that is larger than any that is read says so", async () => {
  const facts = 'UID 1 FLAGS () INTERNALDATE "01-Nov-2026 00:00:00 +0000" RFC822.SIZE 160000000';
  const { server, port } = await listen((socket) =>
    talk(socket, "* SEARCH 1\r\n", "OK done", (tag) =>
      socket.write(`* 1 FETCH (${facts} BODY[]<0> {14}\r\nSubject: Huge\n)\r\n${tag} OK done\r\n`),
    ),
  );
  try {
    const use = run({ imapHost: `127.0.0.1:${port}`, imapSecurity: "plain" });
    const { messages } = await use("search", {});
    const error = await refusal(use("read_message", { message_id: messages[0].message_id }));
    expect([error.status, error.code, error.options.hint]).toEqual([
      413,
      "message_too_large",
      "Open it with a mail program.",
    ]);
    expect(error.message).toContain("160000000 bytes; at most 144 MB");
  } finally {
    await integration.close?.();
    server.close();
  }
});

/** Speaks IMAP until it is asked to search; then it says what it is told to. */
function talk(socket: Socket, untagged: string, tagged = "OK done", onFetch?: (tag: string) => void): void {
  socket.write("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] ready\r\n");
  let rest = "";
  socket.on("data", (piece) => {
    rest += piece.toString("latin1");
    for (let end = rest.indexOf("\r\n"); end >= 0; end = rest.indexOf("\r\n")) {
      const [tag = "", verb = "", second = ""] = rest.slice(0, end).split(" ");
      rest = rest.slice(end + 2);
      const isSearch = second.toUpperCase() === "SEARCH";
      if (tag === "" || verb === "") socket.write("1 OK done\r\n");
      else if (verb === "LIST") socket.write(`* LIST () "/" INBOX\r\n${tag} OK done\r\n`);
      else if (verb === "SELECT") socket.write(`* 1 EXISTS\r\n* OK [UIDVALIDITY 1] v\r\n${tag} OK done\r\n`);
      else if (verb === "AUTHENTICATE" && second === "PLAIN") socket.write(`+ \r\n`);
      else if (second === "FETCH" && onFetch !== undefined) onFetch(tag);
      else socket.write(isSearch ? `${untagged}${tag} ${tagged}\r\n` : `${tag} OK done\r\n`);
    }
  });
}
