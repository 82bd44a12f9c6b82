import { type ProviderFault, RETRY_AFTER_SECONDS } from "./provider-faults.ts";

/** Faults of a provider that is asked over HTTP. */
export const HTTP_FAULTS = [
  "refuses the credentials",
  "forbids it",
  "does not know it",
  "has a conflict",
  "refuses the arguments",
  "is asked too often",
  "fails",
  "is overloaded",
  "answers garbage",
  "breaks the connection",
  "never answers",
  "is down",
] as const satisfies readonly ProviderFault[];

/** How an HTTP server shows a fault; undefined when it does not even listen. */
export interface HttpAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Ends the connection without an answer. */
  readonly drop?: true;
  /** Never answers. */
  readonly hang?: true;
  /** Does not end the answer. */
  readonly open?: true;
}

const STATUSES: Partial<Record<ProviderFault, number>> = {
  "refuses the credentials": 401,
  "forbids it": 403,
  "does not know it": 404,
  "has a conflict": 409,
  "refuses the arguments": 422,
  "is asked too often": 429,
  fails: 500,
  "is overloaded": 503,
};

/** The HTTP answer of each fault; undefined for "is down". */
export function toHttpAnswer(fault: ProviderFault): HttpAnswer | undefined {
  const json = { "content-type": "application/json" };
  const status = STATUSES[fault];
  if (status !== undefined) {
    const wait = status === 429 ? { "retry-after": String(RETRY_AFTER_SECONDS) } : {};
    return { status, headers: { ...json, ...wait }, body: '{"message":"Because."}' };
  }
  if (fault === "answers garbage") return { headers: json, body: '{"half":' };
  if (fault === "breaks the connection") return { drop: true };
  return fault === "never answers" ? { hang: true } : undefined;
}

/** A provider on loopback that answers as it is told. */
interface FaultyProvider {
  /** Answers every request so; well again without an answer. */
  behave(answer?: HttpAnswer): void;
  /** Stops listening. */
  stop(): Promise<void>;
  /** Listens again. */
  resume(): Promise<void>;
}

/** Lets such a provider meet faults in every answer, and recover: two members of a contract's subject. */
export function meetsFaults(provider: FaultyProvider) {
  return {
    async meet(fault: ProviderFault): Promise<void> {
      const answer = toHttpAnswer(fault);
      if (answer === undefined) await provider.stop();
      else provider.behave(answer);
    },
    async recover(): Promise<void> {
      provider.behave();
      await provider.resume();
    },
  };
}
