import { execFile } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { request } from "undici";

/** A request whose body nobody will read. */
export interface Refused {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body. */
  readonly size: number;
}

/** What came back; a connection that broke rejects. */
interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Sends the whole request and gives the answer. */
export type Sender = (refused: Refused) => Promise<Answered>;

const PIECE = Buffer.alloc(64 * 1024, 0x20);

function* pieces(size: number): Generator<Buffer> {
  for (let sent = 0; sent < size; sent += PIECE.length) yield PIECE.subarray(0, Math.min(PIECE.length, size - sent));
}

const globalFetch =
  (framing: "length" | "chunked"): Sender =>
  async ({ url, method, headers, size }) => {
    const body = framing === "length" ? Buffer.alloc(size, 0x20) : Readable.toWeb(Readable.from(pieces(size)));
    const reply = await fetch(url, { method, headers, body, duplex: "half" } as RequestInit);
    return { status: reply.status, text: await reply.text() };
  };

/** As our own client sends: pieces with a length that is known. */
const sendByUndici: Sender = async ({ url, method, headers, size }) => {
  const reply = await request(url, {
    method,
    headers: { ...headers, "content-length": String(size) },
    body: Readable.from(pieces(size)),
  });
  return { status: reply.statusCode, text: await reply.body.text() };
};

/** Writes as fast as the socket takes it, and goes on when the answer is there. */
const nodeHttp =
  (framing: "length" | "chunked"): Sender =>
  ({ url, method, headers, size }) =>
    new Promise((resolve, reject) => {
      const length = framing === "length" ? { "content-length": String(size) } : {};
      const asking = httpRequest(url, { method, headers: { ...headers, ...length }, agent: false });
      asking.once("error", reject);
      asking.once("response", (reply) => {
        let text = "";
        reply.on("data", (data) => {
          text += String(data);
        });
        reply.once("error", reject);
        reply.once("end", () => {
          resolve({ status: reply.statusCode ?? 0, text });
          asking.destroy();
        });
      });
      Readable.from(pieces(size)).pipe(asking);
    });

/** Reads nothing before its last byte is out, as simple clients do. */
const rawSocket =
  (framing: "length" | "chunked"): Sender =>
  async ({ url, method, headers, size }) => {
    const { host, hostname, port, pathname } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const broken = once(socket, "error").then(([error]) => Promise.reject(error));
    broken.catch(() => {});
    const send = async (data: string | Buffer) => {
      if (!socket.write(data)) await Promise.race([once(socket, "drain"), broken]);
    };
    const frame = framing === "length" ? `content-length: ${size}` : "transfer-encoding: chunked";
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    await send(`${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${frame}\r\n${lines.join("")}\r\n`);
    for (const piece of pieces(size)) {
      if (framing === "chunked") await send(`${piece.length.toString(16)}\r\n`);
      await send(piece);
      if (framing === "chunked") await send("\r\n");
    }
    if (framing === "chunked") await send("0\r\n\r\n");
    await Promise.race([new Promise<void>((resolve) => socket.write("", () => resolve())), broken]);
    return readAnswer(socket, broken);
  };

async function readAnswer(socket: ReturnType<typeof connect>, broken: Promise<never>): Promise<Answered> {
  let text = "";
  const whole = new Promise<void>((resolve) => {
    const look = (data?: Buffer) => {
      text += data ?? "";
      const head = text.indexOf("\r\n\r\n");
      const length = /^content-length: (\d+)/im.exec(text)?.[1];
      if (head !== -1 && text.length >= head + 4 + Number(length)) resolve();
    };
    socket.on("data", look);
    socket.once("end", () => resolve());
  });
  await Promise.race([whole, broken]);
  socket.destroy();
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
  return { status, text: text.slice(text.indexOf("\r\n\r\n") + 4) };
}

const curl =
  (...options: string[]): Sender =>
  async ({ url, method, headers, size }) => {
    const named = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const args = ["-sS", "-X", method, ...named, "--data-binary", "@-", "-w", "\n%{http_code}", ...options, url];
    const running = promisify(execFile)("curl", args, { encoding: "utf8" });
    const { stdin } = running.child;
    // It closes its input when it stops sending.
    stdin?.on("error", () => {});
    if (stdin) Readable.from(pieces(size)).pipe(stdin);
    const { stdout } = await running;
    const end = stdout.lastIndexOf("\n");
    return { status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) };
  };

/** Every way of sending that the suite tries. */
export const SENDERS: Readonly<Record<string, Sender>> = {
  "fetch with a length": globalFetch("length"),
  "fetch in chunks": globalFetch("chunked"),
  "undici with a stream": sendByUndici,
  "node:http with a length": nodeHttp("length"),
  "node:http in chunks": nodeHttp("chunked"),
  "a socket that reads last, with a length": rawSocket("length"),
  "a socket that reads last, in chunks": rawSocket("chunked"),
  curl: curl(),
  "curl without Expect": curl("-H", "Expect:"),
  "curl in chunks": curl("-H", "Transfer-Encoding: chunked", "-H", "Expect:"),
  "curl, HTTP/1.0": curl("--http1.0"),
};
