import type { AllowedHosts } from "../../service/fetch/address-rules.ts";
import { createStoreFields } from "../collections/dav-settings.ts";
import { createStores } from "../collections/open-stores.ts";
import type { Integration } from "../port/integration.ts";
import type { OpenAgenda } from "./agenda.ts";
import { CALENDAR_FIELDS, CALENDARS, readSettingZone } from "./calendar-settings.ts";
import { answerInvitation, createEvent, deleteEvent, updateEvent } from "./change-calendar.ts";
import { findFreeTime, listCalendars, listEvents, readEvent } from "./read-calendar.ts";

const actions = [
  listCalendars,
  listEvents,
  findFreeTime,
  readEvent,
  createEvent,
  updateEvent,
  deleteEvent,
  answerInvitation,
];

/**
 * Calendars: folders of iCalendar files (setting `folder`, an absolute path), or an account on a CalDAV server (`server`,
 * with the settings of `readDavSettings`). Optional: `address` of whoever is invited, `timeZone`. The code of either is
 * loaded by the first call that needs it.
 *
 * @param o.allowed hosts of the owner that may be reached although they are not public
 */
export function createCalendarIntegration(o: { readonly allowed?: AllowedHosts } = {}): Integration {
  const stores = createStores(CALENDARS, o);
  const open: OpenAgenda = async (context, action) => {
    const { StoredAgenda } = await import("./stored-agenda.ts");
    return new StoredAgenda(await stores.open(context, action), context);
  };
  return {
    slug: "calendar",
    name: "Calendar",
    description:
      "Calendars on a server (CalDAV), or in a folder of the machine that runs the service, as iCalendar files.",
    category: "calendar",
    scopes: ["calendar.read", "calendar.write"],
    actions: actions.map((action) => action(open)),
    settingsForm: [
      ...createStoreFields({
        server: "Calendar server (CalDAV)",
        address: "Invitations to it are yours.",
        folder: {
          name: "folder",
          label: "Folder of the calendars",
          kind: "folder",
          help: "Each folder in it is a calendar, with one .ics file an event, as vdirsyncer and khal have them.",
        },
      }),
      ...CALENDAR_FIELDS,
    ],
    settingsHelp: "Fill in a server with user name and password, or else only the folder at the end.",
    firstStep: {
      setting: "address",
      async suggest(address) {
        const { findDavServer } = await import("../collections/find-dav-server.ts");
        return findDavServer(address, CALENDARS);
      },
    },
    async checkSettings(settings) {
      await stores.checkSettings(settings);
      readSettingZone(settings);
    },
    testSettings: stores.testSettings,
    close: stores.close,
  };
}
