import { SvcError } from "../../shared/errors.ts";
import { SIDE_EFFECT_LEVELS } from "../../shared/wire/catalog.ts";
import type { KeyScopes } from "../../shared/wire/key-scopes.ts";
import { wholeNumber } from "../settings.ts";

/** Flags that ask for a smaller key. */
export interface LimitFlags {
  readonly apps?: string;
  readonly accounts?: string;
  readonly tools?: string;
  readonly levels?: string;
  readonly readOnly?: boolean;
  readonly expires?: string;
  readonly approvals?: "device" | "owner";
}

const MAX_DAYS = 3650;

/**
 * The limits in the flags; undefined without such flags.
 *
 * @throws SvcError `invalid_config` naming the flag
 */
export function readLimitFlags(flags: LimitFlags): KeyScopes | undefined {
  const { apps, accounts, tools, levels, readOnly, expires, approvals } = flags;
  const scopes: KeyScopes = {
    ...(apps !== undefined && { integrations: readList(apps, "--apps") }),
    ...(accounts !== undefined && { connections: readList(accounts, "--accounts") }),
    ...(tools !== undefined && { tools: readList(tools, "--tools") }),
    ...(levels !== undefined && { levels: readLevels(levels) }),
    ...(readOnly && { levels: ["read"] }),
    ...(expires !== undefined && { expiresInDays: wholeNumber(expires, "--expires", 1, MAX_DAYS) }),
    ...(approvals !== undefined && { approvals }),
  };
  return Object.keys(scopes).length === 0 ? undefined : scopes;
}

function readList(text: string, flag: string): string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  if (names.length > 0) return names;
  throw new SvcError("invalid_config", `${flag} names nothing.`, { field: flag, hint: `Leave ${flag} out for all.` });
}

function readLevels(text: string): NonNullable<KeyScopes["levels"]> {
  return readList(text, "--levels").map((name) => {
    const level = SIDE_EFFECT_LEVELS.find((known) => known === name.toLowerCase());
    if (level !== undefined) return level;
    const message = `--levels has "${name}"; levels are ${SIDE_EFFECT_LEVELS.join(", ")}.`;
    throw new SvcError("invalid_config", message, { field: "--levels" });
  });
}

/** The granted limits of a key, in one line. `granted` is undefined where the service did not say. */
export function describeGranted(asked: KeyScopes | undefined, granted: KeyScopes | undefined): string | undefined {
  if (granted === undefined) {
    return asked && "This service does not limit keys: the key may do everything. Revoke it there if that is too much.";
  }
  const { integrations, levels, tools, connections, expiresInDays: days, approvals } = granted;
  const said = [
    ...(levels === undefined ? [] : [`effects ${levels.join(", ")}`]),
    ...(integrations === undefined ? [] : [`apps ${integrations.join(", ")}`]),
    ...(connections === undefined ? [] : [`accounts ${connections.join(", ")}`]),
    ...(tools === undefined ? [] : [`tools ${tools.join(", ")}`]),
    ...(days === undefined ? [] : [`for ${days} ${days === 1 ? "day" : "days"}`]),
  ];
  const who = approvals === "owner" ? " The owner approves each call that changes something." : "";
  if (said.length > 0) return `The key is limited: ${said.join("; ")}.${who}`;
  return asked === undefined ? undefined : `The key may do everything.${who}`;
}
