import { Pool } from "undici";

/** One kind of request, repeated. */
export interface Load {
  readonly origin: string;
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** What a run of a load showed. Times in milliseconds. */
export interface LoadResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly replyBytes: number;
}

/** Sends a load over `connections` keep-alive connections for `seconds`; every answer must be a 200. */
export async function runLoad(load: Load, connections: number, seconds: number): Promise<LoadResult> {
  const pool = new Pool(load.origin, { connections, pipelining: 1 });
  const times: number[] = [];
  let replyBytes = 0;
  const { path, method, headers } = load;
  const end = performance.now() + seconds * 1000;
  const work = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      const reply = await pool.request({ path, method, headers, body: load.body ?? null });
      const text = await reply.body.text();
      times.push(performance.now() - start);
      replyBytes = Buffer.byteLength(text);
      if (reply.statusCode !== 200)
        throw new Error(`${method} ${path} answered ${reply.statusCode}: ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  await pool.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99), replyBytes };
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
