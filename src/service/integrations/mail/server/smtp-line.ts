import type SMTPConnection from "nodemailer/lib/smtp-connection/index.js";
import { createProviderError } from "../../provider-failure.ts";
import { explainConnect, nameServer, readFault, refuseSignIn } from "./connect-failure.ts";
import type { MailServer, ServerSettings } from "./server-settings.ts";

const CONNECT_MS = 10_000;
/** Silence after which a connection counts as lost; less than a call may take. */
const SILENCE_MS = 45_000;

/** Bytes and lines that a server may say in one session, twice what refusing each of the most recipients takes. */
const MAX_HEARD = 128 * 1024;
const MAX_LINES = 1000;

/** A connection to the outgoing server, signed in and not used for a message yet. */
export interface SmtpLine {
  readonly connection: SMTPConnection;
  /** Rejects when the connection breaks, at any time. */
  readonly broken: Promise<never>;
  /** Ends the connection at once. */
  end(): void;
}

/**
 * Connects to the outgoing server and signs in, where it takes a sign-in. Throws ServiceError: nothing was sent then.
 */
export async function openSmtpLine(
  { smtp, user, signIn, secret, ca }: ServerSettings & { readonly smtp: MailServer },
  signal: AbortSignal,
): Promise<SmtpLine> {
  const { default: Connection } = await import("nodemailer/lib/smtp-connection/index.js");
  const connection = new Connection({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === "tls",
    requireTLS: smtp.security === "starttls",
    ignoreTLS: smtp.security === "plain",
    ...(ca === undefined ? {} : { tls: { ca } }),
    logger: false,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  });
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined);
  connection.on("error", reject);
  connection.once("end", () => reject(new Error("The server closed the connection.")));
  const stop = () => {
    reject(signal.reason);
    connection.close();
  };
  limitAnswers(connection, () => {
    reject(new Error("The server does not stop answering."));
    connection.close();
  });
  signal.addEventListener("abort", stop, { once: true });
  const end = () => {
    signal.removeEventListener("abort", stop);
    connection.close();
  };
  try {
    signal.throwIfAborted();
    await Promise.race([new Promise<void>((resolve) => connection.connect(() => resolve())), broken]);
  } catch (error) {
    end();
    signal.throwIfAborted();
    throw explainConnect(error, smtp);
  }
  try {
    // Not in the types: whether the server takes a sign-in at all; relays of one's own network may not.
    if ("allowsAuth" in connection && connection.allowsAuth === true)
      await Promise.race([login(connection, { user, signIn, secret }), broken]);
  } catch (error) {
    end();
    signal.throwIfAborted();
    throw explainSignIn(error, smtp, signIn);
  }
  return { connection, broken, end };
}

/** The library keeps what it hears until a reply is complete, and looks at all of it with every line. */
function limitAnswers(connection: SMTPConnection, stop: () => void): void {
  // Not in the types: everything heard comes through it, encrypted or not.
  if (!("_onData" in connection) || typeof connection._onData !== "function")
    throw new Error("nodemailer does not hear its server where it did.");
  const hear = connection._onData.bind(connection);
  let heard = 0;
  let lines = 0;
  const _onData = (bytes: Uint8Array) => {
    heard += bytes.length;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, end + 1)) lines += 1;
    if (heard > MAX_HEARD || lines > MAX_LINES) stop();
    else hear(bytes);
  };
  Object.assign(connection, { _onData });
}

function login(
  connection: SMTPConnection,
  { user, signIn, secret }: Pick<ServerSettings, "user" | "signIn" | "secret">,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null | undefined) => (error ? reject(error) : resolve());
    connection.login(
      signIn === "password" ? { user, credentials: { user, pass: secret } } : toTokenLogin(user, secret),
      done,
    );
  });
}

/** A token is given once: the library asks for a new one after a refusal, and there is none. */
function toTokenLogin(user: string, token: string) {
  const oauth2 = {
    getToken(isRetry: boolean, done: (error: Error | null, token?: string) => void) {
      if (isRetry) done(new Error("The server refused the access token."));
      else done(null, token);
    },
    buildXOAuth2Token: (value: string) =>
      Buffer.from(`user=${user}\u0001auth=Bearer ${value}\u0001\u0001`).toString("base64"),
  };
  return { user, method: "XOAUTH2", oauth2 } as unknown as Parameters<SMTPConnection["login"]>[0];
}

function explainSignIn(error: unknown, server: MailServer, signIn: ServerSettings["signIn"]) {
  const { code, responseCode = 0, message, response } = readFault(error);
  if (code !== "EAUTH") return explainConnect(error, server);
  if (responseCode >= 400 && responseCode < 500)
    return createProviderError(
      { kind: "status", status: 503, message },
      { app: nameServer(server), action: { level: "read", idempotent: true } },
    );
  return refuseSignIn(server, { signIn, said: response });
}
