import type { AllowedHosts } from "../service/fetch/address-rules.ts";
import { createCalendarIntegration } from "./calendar/calendar-integration.ts";
import { createContactsIntegration } from "./contacts/contacts-integration.ts";
import { createDriveIntegration } from "./drive/drive-integration.ts";
import { createFeedsIntegration } from "./feeds/feeds-integration.ts";
import { createMailIntegration } from "./mail/mail-integration.ts";
import { createNotesIntegration } from "./notes/notes-integration.ts";
import type { Integration } from "./port/integration.ts";

/**
 * The integrations that come with the service. They work on local folders, with no network and no account, and on those
 * of others.
 *
 * @param o.allowed hosts of the owner that may be reached without encryption
 * @param o.sendDelay see {@link createMailIntegration}
 */
export function createBuiltInIntegrations(
  o: { readonly allowed?: AllowedHosts; readonly sendDelay?: number } = {},
): readonly Integration[] {
  return [
    createDriveIntegration(o),
    createNotesIntegration(o),
    createMailIntegration(o),
    createCalendarIntegration(o),
    createContactsIntegration(o),
    createFeedsIntegration(o),
  ];
}

/** {@link createBuiltInIntegrations} for those who only look at them, or reach nothing but local folders. */
export const builtInIntegrations: readonly Integration[] = createBuiltInIntegrations();
