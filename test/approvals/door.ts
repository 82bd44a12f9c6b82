import type { SessionEvent } from "../../src/calls/session-events.ts";

/** What a process has in which a door is opened. */
export interface Host {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Folder of the two below, as `svc` lays them out. */
  readonly home: string;
  readonly stateDir: string;
  readonly media: string;
  readonly now?: () => number;
  readonly idempotencyKeys?: "when_known" | "off";
  readonly onEvent?: (event: SessionEvent) => void;
}

/** A call as a model makes it. */
export interface ModelCall {
  /** The model's own id. */
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

export type Answer = "approve" | "decline" | { readonly edit: Record<string, unknown> };

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
  /** Milliseconds after which an answer comes too late, by the clock of the host; undefined for a timer of its own. */
  readonly expiresAfterMs: number | undefined;
  open(host: Host): Promise<OpenDoor>;
}

/** Settings of a session in a host. */
export function toSettings({ media, home: _, ...host }: Host) {
  return { ...host, mediaRoots: [media], allow: { integrations: ["notes", "drive"] } } as const;
}

export const EXPIRES_AFTER_MS = 10 * 60_000;
