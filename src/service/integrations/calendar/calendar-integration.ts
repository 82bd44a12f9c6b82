import { localFolder } from "../connection-folder.ts";
import type { Integration } from "../integration.ts";
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
 * Calendars: folders of iCalendar files (setting `folder`, an absolute path). Their code is loaded by the first call that
 * needs it.
 */
export function createCalendarIntegration(): Integration {
  const open: OpenAgenda = async (context) => {
    const { StoredAgenda } = await import("./stored-agenda.ts");
    const { FolderStore } = await import("../collections/folder-store.ts");
    return new StoredAgenda(new FolderStore(context, CALENDARS), context);
  };
  return {
    slug: "calendar",
    name: "Calendar",
    description: "Calendars in a folder of the machine that runs the service, as iCalendar files.",
    category: "calendar",
    scopes: ["calendar.read", "calendar.write"],
    actions: actions.map((action) => action(open)),
    settingsForm: [
      {
        name: "folder",
        label: "Folder of the calendars",
        kind: "folder",
        help: "Each folder in it is a calendar, with one .ics file an event, as vdirsyncer and khal have them.",
      },
      {
        name: "address",
        label: "Your mail address",
        kind: "email",
        optional: true,
        help: "The one that invitations are sent to; needed to answer them.",
      },
      ...CALENDAR_FIELDS,
    ],
    async checkSettings(settings) {
      localFolder.read(settings);
      readSettingZone(settings);
    },
    testSettings: (settings) => localFolder.check(settings),
  };
}
