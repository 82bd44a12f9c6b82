import { SMTPServer, type SMTPServerDataStream, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { PASSWORDS, type TestDovecot, type TestUser } from "./start-dovecot.ts";

/** A real SMTP server that delivers into a Dovecot. */
export interface TestSmtp {
  readonly port: number;
  /** Messages that were taken, with whom they were for. */
  readonly taken: { readonly to: string[]; readonly source: string }[];
  /** What the server does instead of taking the next messages. */
  faults: {
    /** Answer to RCPT TO by address. */
    readonly recipients?: Readonly<Record<string, string>>;
    /** Answer to MAIL FROM. */
    readonly sender?: string;
    /** Answer to the whole message. */
    readonly message?: string;
    /** Cut the connection: while the message is sent, or after all of it has come. */
    readonly cut?: "inside" | "after";
    /** Take the message and never answer. */
    readonly hang?: boolean;
    /** Answer after the message with something that is no reply. */
    readonly babble?: boolean;
  };
  close(): Promise<void>;
}

/** Mailboxes by address; others are taken and delivered nowhere. */
export const ADDRESSES: Readonly<Record<TestUser, string>> = { ana: "ana@example.org", bob: "bob@example.org" };

/** @param o.secure TLS from the first byte; otherwise STARTTLS is offered */
export async function startSmtp(
  dovecot: TestDovecot,
  o: { readonly secure?: boolean; readonly options?: SMTPServerOptions } = {},
): Promise<TestSmtp> {
  const state: TestSmtp = { port: 0, taken: [], faults: {}, close: async () => {} };
  const server = new SMTPServer({
    secure: o.secure ?? true,
    cert: dovecot.ca,
    key: dovecot.key,
    authMethods: ["PLAIN", "LOGIN", "XOAUTH2"],
    logger: false,
    async onAuth({ method, username = "", password, accessToken }, _session, done) {
      const user = username.replace(/@.*/, "") as TestUser;
      const isKnown =
        method === "XOAUTH2"
          ? (await dovecot.findUser(accessToken ?? "")) === user
          : user in PASSWORDS && password === PASSWORDS[user];
      if (isKnown) done(null, { user: username });
      else done(Object.assign(new Error("5.7.8 Authentication credentials invalid"), { responseCode: 535 }));
    },
    onMailFrom: (_address, _session, done) => done(toFault(state.faults.sender)),
    onRcptTo: ({ address }, _session, done) => done(toFault(state.faults.recipients?.[address])),
    onData(stream, session, done) {
      void takeMessage({ stream, session, state, dovecot, socket: findSocket(server, session.id) }).then(
        () => done(toFault(state.faults.message)),
        (error: Error) => done(error),
      );
    },
    ...o.options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return Object.assign(state, { port, close: () => new Promise<void>((resolve) => server.close(() => resolve())) });
}

interface TestSocket {
  destroy(): void;
  write(text: string): unknown;
}

interface Taking {
  readonly stream: SMTPServerDataStream;
  readonly session: SMTPServerSession;
  readonly state: TestSmtp;
  readonly dovecot: TestDovecot;
  readonly socket: TestSocket | undefined;
}

async function takeMessage({ stream, session, state, dovecot, socket }: Taking): Promise<void> {
  const { cut, hang, babble, message } = state.faults;
  const pieces: Buffer[] = [];
  for await (const piece of stream) {
    pieces.push(piece);
    if (cut === "inside") return socket?.destroy();
  }
  const source = Buffer.concat(pieces);
  if (message !== undefined) return;
  const to = session.envelope.rcptTo.map(({ address }) => address);
  state.taken.push({ to, source: source.toString("latin1") });
  for (const [user, own] of Object.entries(ADDRESSES) as [TestUser, string][])
    if (to.includes(own)) await dovecot.deliver(user, source);
  if (cut === "after") return socket?.destroy();
  if (hang) return new Promise(() => {});
  if (babble) socket?.write("what a lovely message\r\n");
}

function toFault(answer: string | undefined): Error | null {
  if (answer === undefined) return null;
  const [, code = "550", text = answer] = /^(\d{3}) (.*)$/.exec(answer) ?? [];
  return Object.assign(new Error(text), { responseCode: Number(code) });
}

/** The library does not hand out its sockets, and faults are made on them. */
function findSocket(server: SMTPServer, id: string): TestSocket | undefined {
  for (const connection of server.connections) if (connection.id === id) return connection._socket;
  return undefined;
}
