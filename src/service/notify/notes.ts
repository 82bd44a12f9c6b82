import { makeOnce } from "../../shared/base/concurrency.ts";
import type { ServiceLog } from "../service-error.ts";
import { type ComposeParts, composeNote, composeTest } from "./compose-note.ts";
import { answerTests, type TestResult } from "./note-tests.ts";
import type { Outbox, Sent } from "./outbox.ts";
import type { SendParts } from "./send-note.ts";
import type { Target } from "./targets.ts";

/** Notes to the owner about waiting requests. */
export type Notes = ReturnType<typeof openNotes>;

/** A target that notes do not reach, with one sentence why. */
export type UnreachedTarget = Pick<TestResult, "target"> & { readonly reason: string };

interface NotesParts extends ComposeParts, Omit<SendParts, "dispatcher"> {
  readonly outbox: Outbox;
  readonly targets: readonly Target[];
  readonly nodeId: string;
  /** Milliseconds between two looks for notes that are due, or that another process left. */
  readonly checkEveryMs: number;
  readonly log: ServiceLog;
}

/** Longest answer of a target, in milliseconds. */
const SILENCE_MS = 15_000;

/** Loads what sends notes. */
async function openSender(parts: Omit<SendParts, "dispatcher">) {
  const { sendNote } = await import("./send-note.ts");
  const { createAppAgent } = await import("../fetch/guarded-connector.ts");
  const { dispatcher, close } = createAppAgent({ isPrivate: true, silenceMs: SILENCE_MS });
  const send = (target: Target, sending: Parameters<typeof sendNote>[2]) =>
    sendNote({ ...parts, dispatcher }, target, sending);
  return { send, close };
}

/** Sends the notes of the outbox, now and from now on. */
export function openNotes(parts: NotesParts) {
  const { outbox, targets, log } = parts;
  const closing = new AbortController();
  const getSender = makeOnce(() => openSender(parts));
  let isFailing = false;
  let isAskedAgain = false;
  let looking: Promise<void> | undefined;

  async function sendDue(target: Target): Promise<void> {
    const message = await outbox.claim(target);
    if (message === undefined) return;
    const { signal } = closing;
    const note = await composeNote(parts, message.subjects);
    const { send } = await getSender();
    const sent = await send(target, { id: message.id, note, signal });
    // It was cut off, and the next process repeats it.
    if (signal.aborted && !sent.ok) return;
    await outbox.settle(target, message, sent);
    tell(target, sent);
  }

  function tell({ label }: Target, sent: Sent): void {
    if (!sent.ok) log({ level: "warn", message: `A note could not be sent (${label}): ${sent.reason}` });
  }

  async function sendTests(): Promise<TestResult[]> {
    const { send } = await getSender();
    const sending = { id: "msg_test", note: composeTest(parts.baseUrl), signal: closing.signal };
    return Promise.all(
      targets.map(async (target) => {
        const sent = await send(target, sending);
        if (sent.ok) await outbox.revive(target);
        return { target: target.label, ok: sent.ok, reason: sent.ok ? null : sent.reason };
      }),
    );
  }

  async function look(): Promise<void> {
    await answerTests(parts, sendTests);
    await Promise.all(targets.map(async (target) => (await outbox.hasNotes(target)) && sendDue(target)));
  }

  function lookSoon(): void {
    if (closing.signal.aborted) return;
    isAskedAgain = looking !== undefined;
    looking ??= look()
      .then(
        () => {
          isFailing = false;
        },
        (cause) => {
          if (!isFailing) log({ level: "warn", message: "Notes could not be looked after.", cause });
          isFailing = true;
        },
      )
      .finally(() => {
        looking = undefined;
        if (isAskedAgain) lookSoon();
      });
  }

  const timer = setInterval(lookSoon, parts.checkEveryMs).unref();
  outbox.onWake(lookSoon);
  lookSoon();
  return {
    /** Targets that notes do not reach, for the owner alone. */
    async listProblems(): Promise<UnreachedTarget[]> {
      const failing = new Map((await outbox.listFailing()).map((row) => [row.target, row]));
      return targets.flatMap(({ key, label }) => {
        const row = failing.get(key);
        return row === undefined ? [] : [{ target: label, reason: row.error ?? "" }];
      });
    },
    /** Stops; resolves when nothing is sent any more. */
    async close(): Promise<void> {
      clearInterval(timer);
      closing.abort();
      await looking;
      await (await getSender.peek())?.close();
    },
  };
}
