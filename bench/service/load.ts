import { Pool } from "undici";
import { median } from "../report/statistics.ts";

/** One kind of request, repeated. */
export interface Load {
  readonly origin: string;
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** What a run of a load showed. */
export interface LoadResult {
  readonly perSecond: number;
  /** Median time of a request in milliseconds. */
  readonly requestMs: number;
  readonly replyBytes: number;
}

/** Sends a load over `connections` keep-alive connections for `seconds`; every answer must be a 200. */
export async function runLoad(load: Load, connections: number, seconds: number): Promise<LoadResult> {
  const pool = new Pool(load.origin, { connections, pipelining: 1 });
  const times: number[] = [];
  let replyBytes = 0;
  const { path, method, headers } = load;
  const begun = performance.now();
  const end = begun + seconds * 1000;
  const work = async () => {
    for (let start = performance.now(); start < end; start = performance.now()) {
      const reply = await pool.request({ path, method, headers, body: load.body ?? null });
      const text = await reply.body.text();
      times.push(performance.now() - start);
      replyBytes = Buffer.byteLength(text);
      if (reply.statusCode !== 200)
        throw new Error(`${method} ${path} answered ${reply.statusCode}: ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  const elapsed = (performance.now() - begun) / 1000;
  await pool.close();
  return { perSecond: times.length / elapsed, requestMs: median(times), replyBytes };
}
