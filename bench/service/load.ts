import { type Dispatcher, Pool } from "undici";
import { readCpu } from "../processes/read-usage.ts";

/** Requests to one server that are sent in turn. */
export interface Load {
  readonly origin: string;
  readonly method: "GET" | "POST";
  readonly headers: Record<string, string>;
  readonly requests: readonly LoadRequest[];
}

/** Path and body of a request; a {@link NUMBER} in them is another one each time. */
export interface LoadRequest {
  readonly path: string;
  readonly body?: string;
}

/** Where a number stands that makes every request a new one. */
export const NUMBER = "{n}";

/** What a run of a load showed. */
export interface LoadResult {
  readonly perSecond: number;
  readonly count: number;
  /** CPU time of this process in milliseconds, which sent them. */
  readonly cpuMs: number;
}

/**
 * Sends a load over `connections` keep-alive connections for `seconds`, one request at a time on each; every answer must
 * be a 200. It shares the machine with the server, so it only counts the bytes of an answer.
 */
export async function runLoad(load: Load, connections: number, seconds: number): Promise<LoadResult> {
  const pool = new Pool(load.origin, { connections, pipelining: 1 });
  const { method, headers, requests } = load;
  const options = requests.map(({ path, body = null }) => ({ path, method, headers, body }));
  const isNumbered = JSON.stringify(requests).includes(NUMBER);
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const end = begun + seconds * 1000;
  let count = 0;
  const work = async () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const send = () => {
      if (performance.now() >= end) return resolve();
      const next = options[count % options.length];
      count += 1;
      if (next !== undefined) pool.dispatch(isNumbered ? number(next, numbers++) : next, handler);
    };
    const handler = countAnswers(send, reject);
    send();
    await promise;
  };
  await Promise.all(Array.from({ length: connections }, work));
  const elapsed = (performance.now() - begun) / 1000;
  const cpuMs = readCpu(cpu);
  await pool.close();
  return { perSecond: count / elapsed, count, cpuMs };
}

/** Goes on from load to load: a server may know what it was asked before. */
let numbers = 0;

function number<Options extends { path: string; body: string | null }>(options: Options, n: number): Options {
  const { path, body } = options;
  return { ...options, path: path.replace(NUMBER, String(n)), body: body?.replace(NUMBER, String(n)) ?? null };
}

function countAnswers(onEnd: () => void, onFailure: (error: Error) => void): Dispatcher.DispatchHandler {
  let status = 0;
  let received = 0;
  let announced: number | undefined;
  return {
    onRequestStart() {},
    onResponseStart(_controller, statusCode, headers) {
      status = statusCode;
      received = 0;
      announced = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
    },
    onResponseData(_controller, piece) {
      received += piece.length;
    },
    onResponseEnd() {
      if (status !== 200 || received === 0 || received !== (announced ?? received))
        return onFailure(new Error(`An answer had status ${status} and ${received} bytes.`));
      onEnd();
    },
    onResponseError: (_controller, error) => onFailure(error),
  };
}
