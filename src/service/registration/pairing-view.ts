import type { PairStatus } from "../../wire/registration.ts";
import type { PairingRow } from "../store/schema.ts";
import { readSessionStatus } from "./session-status.ts";

/** A pairing session as pages and polls see it: nothing in it is secret. */
export interface PairingView {
  readonly status: PairStatus;
  readonly displayCode: string;
  readonly deviceLabel: string | null;
  readonly client: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** Reads a row at a time, in milliseconds since the epoch. */
export function viewPairing(session: PairingRow, now: number): PairingView {
  return {
    status: readSessionStatus(session, now),
    displayCode: session.display_code,
    deviceLabel: session.device_label,
    client: session.client,
    createdAt: session.created_at,
    expiresAt: session.expires_at,
  };
}
