import type { ApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import type { ToolOutcome } from "../../../src/plugin/calls/outcome.ts";
import type { Arrival } from "./effect-service.ts";
import { nameWrite } from "./name-write.ts";

/** One run of one call in one process: a call made again is another run. */
export interface RunFacts {
  /** Call id and what was asked for: the same for a call made again. */
  readonly call: string;
  readonly startedAt: number;
  effects: number;
}

interface Grant {
  readonly call: string;
  readonly write: string;
  readonly askedAt: number;
  /** True when the question said that an equal call may already have happened. */
  readonly isWarned: boolean;
  isUsed: boolean;
}

/** A request that was sent and of which nobody has been told yet what became of it. */
interface Doubt {
  readonly run: RunFacts;
  readonly write: string;
  readonly key: string | undefined;
  readonly begunAt: number;
  readonly grant: Grant | undefined;
}

/** A write that a human wanted all the same. */
interface Warning {
  readonly run: RunFacts;
  readonly write: string;
  readonly askedAt: number;
}

interface Rule {
  readonly place: string;
  readonly since: number;
  until: number;
}

/** Keeps account of what was asked, agreed to and sent, and notes everything that must not be. */
export class Oracle {
  readonly violations: string[] = [];
  #now = 0;
  readonly #grants: Grant[] = [];
  readonly #rules: Rule[] = [];
  readonly #keys = new Map<string, { readonly write: string; readonly grant: Grant | undefined }>();
  readonly #warnings: Warning[] = [];
  readonly #told: Warning[] = [];
  readonly #begun = new Map<string, number>();
  #doubts: Doubt[] = [];

  /** Counts events; not a time of day. */
  tick(): number {
    this.#now += 1;
    return this.#now;
  }

  /** A human said yes: to what was shown, or to what they typed instead. */
  agree(run: RunFacts, request: ApprovalRequest, given: { askedAt: number; edit?: Record<string, unknown> }): void {
    this.#grants.push({
      call: run.call,
      write: nameRequest(request, given.edit ?? request.arguments),
      askedAt: given.askedAt,
      isWarned: request.reason.includes("may already have happened"),
      isUsed: false,
    });
  }

  allow({ tool, connection }: ApprovalRequest): void {
    if (connection === undefined) return;
    this.#rules.push({ place: `${tool} ${connection}`, since: this.tick(), until: Number.POSITIVE_INFINITY });
  }

  revoke(tool: string, connection: string): void {
    for (const rule of this.#rules) {
      if (rule.place === `${tool} ${connection}`) rule.until = Math.min(rule.until, this.tick());
    }
  }

  /** The journal let a request go, which may be long before it arrives, or before another run asks for its answer. */
  begun(run: RunFacts): void {
    this.#begun.set(run.call, this.tick());
  }

  /** A request to act has arrived. */
  sent(run: RunFacts, arrival: Arrival): void {
    const { key, write } = arrival;
    const now = this.tick();
    const known = key === undefined ? undefined : this.#keys.get(key);
    const grant = this.#findGrant(run, write);
    if (known !== undefined) {
      if (known.write !== write) this.#note("one key for two writes", run, write);
      // Refused before, and agreed to anew: the human may have been told of others in between.
      this.#warn(run, write, grant);
      return;
    }
    if (key !== undefined) this.#keys.set(key, { write, grant });
    const hasRule = this.#rules.some(
      ({ place, since, until }) => isAt(place, write) && since < now && until > run.startedAt,
    );
    if (arrival.isConfirmed && grant === undefined && !hasRule) this.#note("sent without an approval", run, write);
    const sent: Doubt = { run, write, key, begunAt: this.#begun.get(run.call) ?? now, grant };
    for (const doubt of this.#doubts) {
      if (doubt.write !== write) continue;
      const [first, second] = doubt.begunAt < sent.begunAt ? [doubt, sent] : [sent, doubt];
      const isWarned = second.grant?.isWarned === true && second.grant.askedAt > first.begunAt;
      if (!isWarned && !this.#isTold(first))
        this.#note(`sent again without a word about ${first.run.call}`, second.run, write);
    }
    this.#warn(run, write, grant);
    if (!this.#isTold(sent)) this.#doubts.push(sent);
  }

  acted(run: RunFacts, arrival: Arrival): void {
    run.effects += 1;
    const known = arrival.key === undefined ? undefined : this.#keys.get(arrival.key);
    const grant = known?.grant ?? this.#findGrant(run, arrival.write);
    if (grant === undefined) return;
    if (grant.isUsed) this.#note("two effects of one question", run, arrival.write);
    grant.isUsed = true;
  }

  /** The service said that it did nothing. */
  refused(run: RunFacts, arrival: Arrival): void {
    this.#doubts = this.#doubts.filter((doubt) => doubt.run !== run || doubt.write !== arrival.write);
  }

  /** How a call ended is in the journal: another process may answer it from there. */
  written(run: RunFacts, keys: readonly string[]): void {
    this.#doubts = this.#doubts.filter((doubt) => doubt.run !== run && !keys.includes(doubt.key ?? ""));
  }

  finished(run: RunFacts, outcome: ToolOutcome, keys: readonly string[]): void {
    const { status } = outcome;
    const isRemembered = outcome.notes.some((note) => note.startsWith("answered from the journal"));
    if (status !== "succeeded" && status !== "unknown" && run.effects > 0 && !isRemembered) {
      this.#note(`an effect behind ${status}`, run, "");
    }
    if (status === "unknown") return;
    const hasEnded = status === "succeeded" || status === "failed";
    this.written(run, keys);
    if (hasEnded) this.#told.push(...this.#warnings.filter((warning) => warning.run === run));
    this.#doubts = this.#doubts.filter((doubt) => !this.#isTold(doubt));
  }

  /** A human was told of it and went on all the same to an end that is known: nobody is told again. */
  #isTold({ write, begunAt }: Doubt): boolean {
    return this.#told.some((warning) => warning.write === write && warning.askedAt > begunAt);
  }

  /** Calls that were sent and whose end nobody was told. */
  get unknown(): readonly string[] {
    return this.#doubts.map(({ run }) => run.call);
  }

  #warn(run: RunFacts, write: string, grant: Grant | undefined): void {
    if (grant?.isWarned === true) this.#warnings.push({ run, write, askedAt: grant.askedAt });
  }

  #findGrant(run: RunFacts, write: string): Grant | undefined {
    const fitting = this.#grants.filter((grant) => grant.call === run.call && grant.write === write && !grant.isUsed);
    // Where two processes ask about one call, what the human knows is what the later question said.
    const warned = fitting.filter(({ isWarned }) => isWarned).sort((one, other) => one.askedAt - other.askedAt);
    return warned.at(-1) ?? fitting.at(-1);
  }

  #note(what: string, run: RunFacts, write: string): void {
    this.violations.push(`${what}: ${run.call}, ${write}`);
  }
}

function nameRequest(request: ApprovalRequest, args: Readonly<Record<string, unknown>>): string {
  const { tool, connection, files } = request;
  return nameWrite({ tool, args, connection, digests: files.map(({ sha256 }) => sha256) });
}

function isAt(place: string, write: string): boolean {
  const [tool, , connection] = JSON.parse(write) as [string, unknown, string | null];
  return place === `${tool} ${connection}`;
}
