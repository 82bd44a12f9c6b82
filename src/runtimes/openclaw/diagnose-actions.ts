import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ActionsFile, readActions } from "./actions-file.ts";
import type { Finding } from "./finding.ts";
import type { Places } from "./places.ts";

const SYNC = "openclaw svc sync";

/** Whose the actions should be; undefined where it is not known. */
export interface ActionsOwner {
  readonly principal?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** The state of the action tools on this machine. */
export function diagnoseActions(places: Places, owner: ActionsOwner): Finding[] {
  let damage: string | undefined;
  const file = readActions(places.actions, (reason) => {
    damage = reason;
  });
  if (file === undefined) return [describeMissing(places, damage)];
  const { actions, syncedAt } = file;
  if (isForeign(file, owner)) {
    const text = `The ${actions.length} action tools were synced with another key (${file.baseUrl}); none of them is offered.`;
    return [{ id: "actions", level: "fail", text, fix: SYNC }];
  }
  const missing = ["openclaw.plugin.json", "package.json"].filter((name) => !existsSync(join(places.companion, name)));
  if (actions.length > 0 && missing.length > 0) {
    const text = `The plugin that holds the action tools is not complete: ${missing.join(", ")} missing in ${places.companion}.`;
    return [{ id: "companion", level: "fail", text, fix: SYNC }];
  }
  return [
    { id: "actions", level: "ok", text: `${actions.length} actions have a tool of their own, synced ${syncedAt}.` },
    ...describePending(file),
  ];
}

function describeMissing(places: Places, damage: string | undefined): Finding {
  if (damage === undefined && !existsSync(places.actions)) {
    const text = "Not synced: no action has a tool of its own. svc_search_tools and svc_call_tool work without.";
    return { id: "actions", level: "warn", text, fix: SYNC };
  }
  const why = damage === undefined ? "" : `: ${damage}`;
  return { id: "actions", level: "fail", text: `The file of the action tools cannot be used${why}.`, fix: SYNC };
}

function isForeign(file: ActionsFile, { principal, baseUrl }: ActionsOwner): boolean {
  return principal === undefined ? baseUrl !== undefined && file.baseUrl !== baseUrl : file.principal !== principal;
}

function describePending({ pending }: ActionsFile): Finding[] {
  if (pending === undefined) return [];
  const { added, changed, removed } = pending;
  const parts = [`${added.length} new`, `${changed.length} changed and held back`, `${removed.length} gone`].filter(
    (part) => !part.startsWith("0 "),
  );
  if (parts.length === 0) return [];
  const text = `The service's actions have changed since the sync: ${parts.join(", ")}.`;
  return [{ id: "actions.changed", level: "warn", text, fix: SYNC }];
}
