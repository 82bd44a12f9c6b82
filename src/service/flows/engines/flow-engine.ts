/** A segment: the steps of one flow up to its next approval, timed wait, failure or end. */
export interface SegmentInput {
  readonly flowId: string;
  readonly segment: number;
  /** Index of its first step. It stays the same in a replay, in which an engine expects the same steps again. */
  readonly from: number;
}

/** The key of a segment, which an engine runs at most once at a time. */
export function toSegmentKey({ flowId, segment }: Pick<SegmentInput, "flowId" | "segment">): string {
  return `${flowId}:${segment}`;
}

/**
 * What runs segments, and continues them after a crash. The rows of the flow are the truth: an engine may be asked
 * again for what it has done, and losing its own data loses no flow.
 */
export interface FlowEngine {
  /** Runs a segment in the background; does nothing for a key it knows. */
  start(key: string, input: SegmentInput): Promise<void>;
  /** Runs a part of the current segment and remembers its result, so that it is not run again when the segment is. */
  step<T extends string>(name: string, run: () => Promise<T>): Promise<T>;
  /** Drops a segment that has not begun; one that runs notices by itself that its flow was cancelled. */
  cancel(key: string): Promise<void>;
  /** Continues at once a segment whose process died. False when there is nothing to continue: it ended, or is unknown. */
  takeOver(key: string): Promise<boolean>;
  /** Forgets segments that ended before a time by the clock of the machine; a few at a time. */
  forget(endedBefore: Date): Promise<void>;
  /** Lets running segments come to the end of their step and stops. */
  close(): Promise<void>;
}

/** What an engine needs from its surroundings. */
export interface EngineOptions {
  /** Runs one segment to its end; never rejects. */
  run(input: SegmentInput, engine: FlowEngine): Promise<void>;
  /** Name of this process among those that share the flows. */
  readonly runner: string;
  /** Told about faults that no flow shows. */
  readonly onFault: (message: string, cause: unknown) => void;
}

/** Opens an engine when the first flow needs one. */
export type OpenEngine = (options: EngineOptions) => Promise<FlowEngine>;
