import type { SessionEvent } from "../../src/plugin/calls/session-events.ts";
import type { Situation } from "./situations.ts";

/** What a process has in which a door is opened. */
export interface Host {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Folder of the two below, as `svc` lays them out. */
  readonly home: string;
  readonly stateDir: string;
  readonly media: string;
  /** Those a model may use. Default: notes and drive. */
  readonly apps?: readonly string[];
  readonly now?: () => number;
  readonly idempotencyKeys?: "when_known" | "off";
  readonly onEvent?: (event: SessionEvent) => void;
  /** A link that signs the owner in. */
  readonly signInUrl?: () => Promise<string>;
}

/** A call as a model makes it. */
export interface ModelCall {
  /** The model's own id. */
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** Undefined leaves a question unanswered. */
export type Answer = "approve" | "decline" | { readonly edit: Record<string, unknown> } | undefined;

/** Where a run of a model stands: it waits for answers to questions, or it has ended. */
export interface Turn {
  /** What the host keeps until the answers come. */
  readonly saved: string;
  /** One text for each question: what its human sees. */
  readonly questions: readonly string[];
  /** What the model was told of calls since the last turn. */
  readonly told: readonly string[];
}

/** A door that was opened in this process. */
export interface OpenDoor {
  /** Runs a model that makes these calls at once and then says that it is done. */
  start(calls: readonly ModelCall[]): Promise<Turn>;
  /** Goes on with one answer for each question; then the model makes `calls`, if there are any. */
  resume(saved: string, answers: readonly Answer[], calls?: readonly ModelCall[]): Promise<Turn>;
  /** Goes on without an answer, as a queue does after a restart. Left out where nothing goes on without one. */
  goOn?(saved: string): Promise<Turn>;
  /** Runs again from before the calls were made. Left out where no state is kept but the messages that `resume` takes. */
  goBack?(saved: string): Promise<Turn>;
  close(): Promise<void>;
}

/** One way from a model to its human and back. */
export interface Door {
  readonly name: string;
  /** True where the human can change the arguments. */
  readonly canEdit: boolean;
  /** False where nothing is kept of a conversation but its open calls. */
  readonly hasModel: boolean;
  /** False where a question ends with the process that asked it. */
  readonly outlives: boolean;
  /** Milliseconds after which an answer comes too late, by the clock; undefined for a timer of the host. */
  readonly expiresAfterMs: number | undefined;
  /** Situations that cannot come up here, each with the reason. */
  readonly cannot: Readonly<Partial<Record<Situation | OtherSituation, string>>>;
  /** True where a question is put once the one before it is answered, and its call has run. */
  readonly asksInTurn?: true;
  /** True where the service keeps the question, and so joins equal calls and lets time run by its own clock. */
  readonly holdsCalls?: true;
  /** Who decides about the calls of the service's keys. Default: whoever is asked by the door. */
  readonly approvals?: "owner";
  /** True where a framework that the user brings runs the model: `npm run test:peers` tries these with other versions. */
  readonly hasPeer?: true;
  open(host: Host): Promise<OpenDoor>;
}

type OtherSituation =
  | "an answer in another process"
  | "a yes that comes too late"
  | "a killed process"
  | "a file that is sent"
  | "a file that has changed since"
  | "a file as a line of the card";

/** For doors whose calls run on while somebody is asked. */
export const ENDS_WITH_PROCESS: Door["cannot"] = {
  "an answer in another process": "The question, and the call with it, ends with the process.",
  "a killed process": "The question, and the call with it, ends with the process.",
};

/** For doors whose calls the service holds for its owner. */
export const HOLDS_CALLS = {
  holdsCalls: true,
  expiresAfterMs: 24 * 60 * 60_000,
  cannot: {},
} as const satisfies Partial<Door>;

/** Settings of a session in a host. */
export function toSettings({ media, apps = ["notes", "drive"], home: _home, signInUrl: _signInUrl, ...host }: Host) {
  return { ...host, mediaRoots: [media], allow: { integrations: apps } } as const;
}

export const EXPIRES_AFTER_MS = 10 * 60_000;

/** What a host keeps and cannot change: whoever reads it again has the rest. */
export const keep = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

/** Reads what {@link keep} has written. */
export const readKept = <Kept>(text: string) => JSON.parse(Buffer.from(text, "base64").toString()) as Kept;
