import type { BootstrapStatus } from "../../wire/registration.ts";
import type { BootstrapRow } from "../store/schema.ts";
import type { InstallerFacts } from "./read-installer.ts";
import { readSessionStatus } from "./session-status.ts";

/** A bootstrap session as the approval page sees it: nothing in it is secret. */
export interface BootstrapView extends InstallerFacts {
  readonly status: BootstrapStatus;
  readonly displayCode: string;
  /** Network address the request came from. */
  readonly address: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** Reads a row at a time, in milliseconds since the epoch. */
export function viewBootstrap(row: BootstrapRow, now: number): BootstrapView {
  return {
    status: readSessionStatus(row, now),
    displayCode: row.display_code,
    clientLabel: row.client_label,
    hostname: row.hostname,
    platform: row.platform,
    agent: row.agent,
    address: row.address,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
