import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type FaultKind, type FaultPlace, findCut, isRequestPlace } from "./fault-places.ts";
import { findMessage, type MessageSpan } from "./http-message.ts";

/** Something that goes wrong once, or as often as it says. */
interface Fault {
  readonly place: FaultPlace;
  /** A function runs in place of a fault; what follows passes when it has ended. */
  readonly kind: FaultKind | (() => Promise<unknown>);
  /** Matches the first line of the request, as in `POST /api/executions HTTP/1.1`. */
  readonly request: RegExp;
  /** How often; default 1. */
  readonly times?: number;
  /** Milliseconds of a delay; default 50. */
  readonly delayMs?: number;
}

/** A cable to an HTTP/1.1 server that breaks at a chosen byte of a chosen exchange. */
export interface FaultProxy {
  readonly url: string;
  /** First lines of the requests that were complete when they reached the proxy, in order. */
  readonly requests: readonly string[];
  /** How often a fault struck. */
  readonly struck: number;
  /** Takes the place of the fault before it. */
  arm(fault: Fault): void;
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>;
  close(): Promise<void>;
}

interface Armed {
  fault: Fault | undefined;
  left: number;
  struck: number;
}

interface Pair {
  readonly client: Socket;
  readonly service: Socket;
  /** Faults of answers that are still to come; `skip` for the second answer to a request that was sent twice. */
  readonly answers: (Fault | "skip" | undefined)[];
  /** True once everything is dropped, in both directions. */
  isDropping: boolean;
}

/**
 * Opens a proxy to `target`, an origin of this machine, on a free port. It reads each message whole before it passes it
 * on, so that a place in it can be found.
 */
export async function openFaultProxy(target: string): Promise<FaultProxy> {
  const { host, port } = new URL(target);
  const armed: Armed = { fault: undefined, left: 0, struck: 0 };
  const requests: string[] = [];
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const service = connect({ port: Number(port), host: "127.0.0.1", noDelay: true });
    const pair: Pair = { client, service, answers: [], isDropping: false };
    open.add(client);
    client.on("close", () => open.delete(client));
    pump(client, service, (message) => {
      requests.push(message.span.firstLine);
      return passRequest(armed, pair, nameHost(message, host));
    });
    pump(service, client, (message) => passAnswer(armed, pair, message));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    requests,
    get struck() {
      return armed.struck;
    },
    arm(fault) {
      armed.fault = fault;
      armed.left = fault.times ?? 1;
    },
    open,
    async close() {
      for (const socket of open) socket.destroy();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

interface Message {
  readonly bytes: Buffer;
  readonly span: MessageSpan;
}

/** Passes messages on in order; an end comes after what was before it. Nothing passes after `pass` has said no. */
function pump(from: Socket, to: Socket, pass: (message: Message) => Promise<boolean>): void {
  let bytes: Buffer = Buffer.alloc(0);
  let isStopped = false;
  let queue = Promise.resolve();
  const inTurn = (work: () => unknown) => {
    queue = queue.then(async () => {
      if (!isStopped) await work();
    });
    queue.catch(() => {});
  };
  from.on("data", (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    for (let span = findMessage(bytes); span !== undefined; span = findMessage(bytes)) {
      const message = { bytes: bytes.subarray(0, span.end), span };
      bytes = bytes.subarray(span.end);
      inTurn(async () => {
        isStopped = !(await pass(message));
      });
    }
  });
  from.on("end", () => inTurn(() => to.end(bytes)));
  from.on("error", () => {});
  from.on("close", () => {
    queue = queue.then(() => void to.destroy());
  });
}

/** The service answers only under its own name. */
function nameHost({ bytes, span }: Message, host: string): Message {
  const head = bytes.toString("latin1", 0, span.headEnd).replace(/^host: .*$/im, `host: ${host}`);
  const moved = head.length - span.headEnd;
  const named = Buffer.concat([Buffer.from(head, "latin1"), bytes.subarray(span.headEnd)]);
  return { bytes: named, span: { ...span, headEnd: span.headEnd + moved, end: span.end + moved } };
}

async function passRequest(armed: Armed, pair: Pair, message: Message): Promise<boolean> {
  const fault = takeFault(armed, message.span.firstLine);
  const isHere = fault !== undefined && isRequestPlace(fault.place);
  pair.answers.push(isHere ? undefined : fault);
  // Who sends a request twice takes one answer.
  if (isHere && fault.place === "before the answer" && fault.kind === "duplicate") pair.answers.push("skip");
  pair.isDropping ||= isHere && fault.kind === "drop";
  return strike(armed, { from: pair.client, to: pair.service }, message, isHere ? fault : undefined);
}

async function passAnswer(armed: Armed, pair: Pair, message: Message): Promise<boolean> {
  const fault = pair.answers.shift();
  if (fault === "skip") return true;
  if (pair.isDropping) return false;
  return strike(armed, { from: pair.service, to: pair.client }, message, fault);
}

function takeFault(armed: Armed, firstLine: string): Fault | undefined {
  const { fault, left } = armed;
  if (fault === undefined || left === 0 || !fault.request.test(firstLine)) return undefined;
  armed.left -= 1;
  return fault;
}

/** Passes a message on with its fault; false when nothing may follow. */
async function strike(
  armed: Armed,
  { from, to }: { readonly from: Socket; readonly to: Socket },
  { bytes, span }: Message,
  fault: Fault | undefined,
): Promise<boolean> {
  if (fault === undefined) {
    to.write(bytes);
    return true;
  }
  const cut = findCut(fault.place, span);
  const before = bytes.subarray(0, cut);
  const rest = bytes.subarray(cut);
  armed.struck += 1;
  if (fault.kind === "duplicate") {
    to.write(Buffer.concat([before, before, rest]));
    return true;
  }
  await new Promise<void>((resolve) => to.write(before, () => resolve()));
  if (typeof fault.kind === "function" || fault.kind === "delay") {
    await (typeof fault.kind === "function" ? fault.kind() : delay(fault.delayMs ?? 50));
    to.write(rest);
    return true;
  }
  if (fault.kind === "drop") return false;
  for (const socket of [to, from]) {
    if (fault.kind === "reset") socket.resetAndDestroy();
    else socket.end();
  }
  return false;
}
