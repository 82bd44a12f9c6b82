import { driveIntegration } from "./drive/drive-integration.ts";
import type { Integration } from "./integration.ts";
import { mailIntegration } from "./mail/mail-integration.ts";
import { notesIntegration } from "./notes/notes-integration.ts";

/** The integrations that work with no network and no account. */
export const builtInIntegrations: readonly Integration[] = [driveIntegration, notesIntegration, mailIntegration];
