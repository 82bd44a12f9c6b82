import fc from "fast-check";
import { expect } from "vitest";
import type { ServiceError } from "../../../../src/service/service-error.ts";
import type { createPreviewer, createRunner } from "../../run-action.ts";

/** Another mail program at the same mailbox. Messages have a subject of their own, by which it finds them. */
export interface SomebodyElse {
  /** Every message as `folder, subject, marks`, sorted; `R`, `S` and `F` are marks. */
  list(): Promise<string[]>;
  /** Puts a message into INBOX. */
  arrive(subject: string, marks: string): Promise<void>;
  toggle(subject: string, mark: string): Promise<void>;
  move(subject: string, folder: string): Promise<void>;
  erase(subject: string): Promise<void>;
  /** Makes a folder with a message in it. */
  make(folder: string): Promise<void>;
  empty(): Promise<void>;
}

/** A mailbox and what may be asked of it. */
export interface Subject {
  readonly other: SomebodyElse;
  readonly run: ReturnType<typeof createRunner>;
  readonly preview: ReturnType<typeof createPreviewer>;
  /** The runner of a call that was approved by what somebody saw. */
  runSeen(state: string): ReturnType<typeof createRunner>;
}

const ACTIONS = ["mark", "move", "moveToNew", "delete", "send", "draft"] as const;
const CHANGES = ["none", "unrelated", "toggle S", "toggle F", "toggle R", "move", "erase", "make", "twice"] as const;
type TestedAction = (typeof ACTIONS)[number];
type Change = (typeof CHANGES)[number];

export const seenCalls = fc.record({
  action: fc.constantFrom(...ACTIONS),
  change: fc.constantFrom(...CHANGES),
  marks: fc.array(fc.constantFrom("", "S", "F", "FS", "RS"), { minLength: 1, maxLength: 3 }),
  as: fc.constantFrom("read", "unread", "flagged", "unflagged"),
  /** Which message somebody changes. */
  at: fc.nat(),
});
type SeenCall = typeof seenCalls extends fc.Arbitrary<infer Call> ? Call : never;

/** A call about messages of these subjects. */
export async function writeCall(
  { run }: Pick<Subject, "run">,
  {
    action,
    as,
    subjects,
  }: { readonly action: TestedAction; readonly as: string; readonly subjects: readonly string[] },
): Promise<[action: string, args: Record<string, unknown>]> {
  const { messages } = await run("search", { query: "is:any", limit: 50 });
  const find = (subject: string) =>
    messages.find((one: { subject: string }) => one.subject === subject)?.message_id ?? "";
  const message_ids = subjects.map(find);
  const meant = { message_ids, subjects };
  const text = { to: ["anna@example.com"], subject: "Re", body: "B", reply_to_message_id: message_ids[0] };
  if (action === "mark") return ["mark_message", { message_ids, as }];
  if (action === "delete") return ["delete_message", meant];
  if (action === "send" || action === "draft") return [action === "send" ? "send_message" : "save_draft", text];
  return ["move_message", { ...meant, folder: action === "move" ? "Junk" : "Fresh", create_folder: true }];
}

/**
 * Shows a call, lets somebody change the mailbox, and runs it: it is refused without an effect where what it acts on is another
 * by then, and runs where it is not.
 */
export async function checkSeenCall(subject: Subject, call: SeenCall): Promise<void> {
  const { other, preview, runSeen } = subject;
  await other.empty();
  const subjects = call.marks.map((_, index) => `subject ${index}`);
  for (const [index, marks] of call.marks.entries()) await other.arrive(`subject ${index}`, marks);
  await other.arrive("another", "");
  const isWritten = call.action === "send" || call.action === "draft";
  const [action, args] = await writeCall(subject, { ...call, subjects });
  const { state } = await preview(action, args);
  const changed = isWritten ? "subject 0" : `subject ${call.at % subjects.length}`;
  await change(other, call.change, changed);
  const before = await other.list();
  const seen = await preview(action, args).catch((error: ServiceError) => error);
  const isSame = "state" in seen && seen.state === state;
  if (mustDiffer(call)) expect(isSame).toBe(false);
  if (["none", "unrelated", "twice"].includes(call.change)) expect(isSame).toBe(true);
  const refused = await runSeen(state)(action, args).then(
    () => undefined,
    (error: ServiceError) => error,
  );
  if (isSame) return void expect(refused).toBeUndefined();
  expect([404, 412]).toContain(refused?.status);
  expect(await other.list()).toEqual(before);
}

function mustDiffer({ action, change }: SeenCall): boolean {
  if (change === "erase") return true;
  if (action === "send" || action === "draft") return change === "toggle R";
  return change === "move" || change.startsWith("toggle") || (action === "moveToNew" && change === "make");
}

async function change(other: SomebodyElse, change: Change, subject: string): Promise<void> {
  if (change === "unrelated") await other.toggle("another", "F");
  if (change.startsWith("toggle ")) await other.toggle(subject, change.slice(-1));
  if (change === "move") await other.move(subject, "Archive");
  if (change === "erase") await other.erase(subject);
  if (change === "make") await other.make("Fresh");
  if (change !== "twice") return;
  await other.toggle(subject, "F");
  await other.toggle(subject, "F");
}
