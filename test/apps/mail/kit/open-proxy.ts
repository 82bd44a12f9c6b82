import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A cable to a server that can be watched and cut. */
export interface TestProxy {
  readonly port: number;
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>;
  /** Connections there ever were. */
  readonly count: number;
  /** The most connections there were at the same time. */
  readonly most: number;
  /** What was sent through it towards the server, one text for each piece. */
  readonly sent: readonly string[];
  /**
   * Looks at a piece before it is sent on: `cut` ends the connection in its place, `hold` lets nothing through any more, and
   * `answer` does so, too, after it has answered in the place of the server. With `after` it waits for that.
   */
  rule: (
    text: string,
  ) => "cut" | "hold" | { readonly answer: string } | { readonly after: Promise<unknown> } | undefined;
  /** True closes the door: new connections are ended at once. */
  isShut: boolean;
  /** Ends every connection. */
  cut(): void;
  /** Resolves when no connection is open. */
  whenEmpty(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a cable to a port of this machine. */
export async function openProxy(target: number): Promise<TestProxy> {
  const open = new Set<Socket>();
  const waiting: (() => void)[] = [];
  const sent: string[] = [];
  let count = 0;
  let most = 0;
  const server = createServer((socket) => {
    if (proxy.isShut) return void socket.destroy();
    const onward = connect(target, "127.0.0.1");
    open.add(socket);
    count += 1;
    most = Math.max(most, open.size);
    let isHeld = false;
    socket.on("data", (piece) => {
      const text = piece.toString("latin1");
      const verdict = proxy.rule(text);
      if (verdict === "cut") {
        socket.destroy();
        return;
      }
      sent.push(text);
      if (typeof verdict === "object" && "after" in verdict) {
        socket.pause();
        void verdict.after.finally(() => {
          onward.write(piece);
          socket.resume();
        });
        return;
      }
      if (typeof verdict === "object") socket.write(verdict.answer);
      if (verdict !== undefined) isHeld = true;
      if (!isHeld) onward.write(piece);
    });
    onward.on("data", (piece) => socket.write(piece));
    const end = () => {
      socket.destroy();
      onward.destroy();
      open.delete(socket);
      if (open.size === 0) for (const tell of waiting.splice(0)) tell();
    };
    for (const one of [socket, onward]) one.on("error", end).on("close", end);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const proxy: TestProxy = {
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    open,
    get count() {
      return count;
    },
    get most() {
      return most;
    },
    sent,
    rule: () => undefined,
    isShut: false,
    cut: () => {
      for (const socket of open) socket.destroy();
    },
    whenEmpty: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
