import { hideCredential } from "../../shared/base/credential-name.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { type ApprovalContent, readApproval, selectApprovals } from "../approvals/approval-rows.ts";
import type { ApiKeys } from "../auth/api-keys.ts";
import { toSubject } from "../auth/grants.ts";
import type { Flows } from "../flows/flows.ts";
import type { OAuth } from "../oauth/create-oauth.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { Store } from "../store/open-store.ts";
import { nameInNote } from "./name-in-note.ts";

/** One thing that waits, as a note tells it: short texts on one line each, in which no address is a link. */
interface NoteItem {
  readonly id: string;
  readonly kind: "call" | "flow";
  readonly app: string;
  readonly action: string;
  /** What the call would do, in one sentence with the names of things; only where that was looked at. */
  readonly about?: string;
  /** Name of the device or app; the service does not vouch for it. */
  readonly asked_by: string;
  /** Page on which the owner decides. */
  readonly url: string;
  /** JSON, shortened; only where the owner chose to send arguments. */
  readonly arguments?: string;
}

/** A note for people and programs. */
export interface Note {
  readonly title: string;
  readonly lines: readonly string[];
  readonly url: string;
  /** How many things it is about; `items` has the oldest ones. */
  readonly waiting: number;
  readonly items: readonly NoteItem[];
}

/** Parts that {@link composeNote} needs. */
export interface ComposeParts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly accountId: string;
  readonly flows: Pick<Flows, "get">;
  readonly keys: Pick<ApiKeys, "list">;
  readonly oauth: Pick<OAuth, "listApps">;
  readonly baseUrl: string;
  readonly withArguments: boolean;
  readonly now: () => number;
}

const MAX_ITEMS = 5;
const MAX_NAME = 80;
const MAX_ABOUT = 120;
const MAX_ARGUMENTS = 500;

/** Lists the waiting requests, in our words around names that others chose. */
export async function composeNote(parts: ComposeParts, subjects: readonly string[]): Promise<Note> {
  const names = await nameCallers(parts);
  const told = subjects.slice(0, MAX_ITEMS).map((id) => describe(parts, names, id));
  const items = (await Promise.all(told)).filter((item) => item !== undefined);
  const waiting = subjects.length;
  const [first] = items;
  if (first !== undefined && waiting === 1) {
    const { app, url, arguments: args } = first;
    const lines = [tell(first), url, ...(args === undefined ? [] : [`Arguments: ${args}`])];
    return { title: `Approval needed: ${app}`, lines, url, waiting, items };
  }
  const url = `${parts.baseUrl}/inbox`;
  const more = waiting - items.length;
  const lines = [
    ...items.map((item) => `${item.app}: ${tell(item)}`),
    ...(more > 0 ? [`… and ${more} more.`] : []),
    url,
  ];
  return { title: `${waiting} wait for your approval`, lines, url, waiting, items };
}

/** A note that only shows that notes arrive. */
export function composeTest(baseUrl: string): Note {
  const lines = ["What waits for your approval will be told here.", baseUrl];
  return { title: "Test note", lines, url: baseUrl, waiting: 0, items: [] };
}

/** Names of keys and OAuth clients, by the id that a call has. */
async function nameCallers({ keys, oauth, accountId }: ComposeParts): Promise<ReadonlyMap<string, string>> {
  const devices = (await keys.list(accountId)).map(({ id, label }) => [id, label] as const);
  const apps = (await oauth.listApps(accountId)).map(
    ({ clientId, name, redirectUri }) => [toSubject(clientId), name ?? redirectUri ?? ""] as const,
  );
  return new Map([...devices, ...apps]);
}

function tell({ kind, action, about, asked_by }: NoteItem): string {
  return kind === "call"
    ? `“${asked_by}” asks for “${about ?? action}”.`
    : `The flow “${action}” waits, started by “${asked_by}”.`;
}

async function describe(
  parts: ComposeParts,
  names: ReadonlyMap<string, string>,
  id: string,
): Promise<NoteItem | undefined> {
  const row = await selectApprovals(parts.store).where("approvals.id", "=", id).executeTakeFirst();
  if (row === undefined) return describeFlow(parts, id);
  const { content, toolName } = readApproval(row, { box: parts.box, now: parts.now() });
  return {
    id,
    kind: "call",
    app: clean(content?.app ?? row.integration),
    action: clean(content?.title ?? toolName),
    ...(content?.preview !== undefined && { about: nameInNote(withoutQuotes(content.preview.summary), MAX_ABOUT) }),
    asked_by: clean(names.get(row.api_key_id)),
    url: `${parts.baseUrl}/inbox/${id}`,
    ...(parts.withArguments && content !== undefined && { arguments: showArguments(content) }),
  };
}

async function describeFlow(
  { store, flows, accountId, baseUrl }: ComposeParts,
  id: string,
): Promise<NoteItem | undefined> {
  const row = await store.selectFrom("flows").select("id").where("id", "=", id).executeTakeFirst();
  if (row === undefined) return undefined;
  const { flow } = await flows.get(accountId, id);
  const action = clean(flow.name ?? flow.templateKey);
  return {
    id,
    kind: "flow",
    app: "Flows",
    action,
    asked_by: clean(flow.startedBy),
    url: `${baseUrl}/flows/${id}`,
  };
}

function clean(text: string | null | undefined): string {
  return nameInNote(text, MAX_NAME);
}

function showArguments({ arguments: args }: ApprovalContent): string {
  return unlink(toPlainText(JSON.stringify(args, hideCredential), { max: MAX_ARGUMENTS }));
}

/** Names stand in quotes there, which a note has around the sentence. */
function withoutQuotes(text: string): string {
  return text.replaceAll('"', "");
}

function unlink(text: string): string {
  return text.replaceAll("://", ": //").replaceAll(/\bwww\./gi, "www .");
}
