import type { CardCall } from "./card-call.ts";

const ZONE = { zone: "Europe/Berlin" };
const CHOIR = { event_id: "Home/choir.ics", title: "Choir", whole_series: true };
const GUS = { contact_id: "people/gus.vcf", name: "Gus Miller" };

/** The calls of the review that change calendars. */
export const CALENDAR_CALLS: readonly CardCall[] = [
  {
    name: "event-create",
    tool: "calendar_create_event",
    args: {
      title: "Plumber",
      weekday: "Tuesday",
      start: "2026-12-01T10:00",
      end: "2026-12-01T11:00",
      calendar: "Home",
      ...ZONE,
    },
    object: ["Plumber", "Home"],
    change: ["Add", "Tue 1 Dec 2026, 10:00 to 11:00"],
    consequence: ["Nobody is invited", "Also at that time", "Dentist", "Undo", "possible until"],
  },
  {
    name: "event-move",
    tool: "calendar_update_event",
    args: { event_id: "Work/board.ics", title: "Board meeting", weekday: "Friday", start: "2026-12-04T09:00", ...ZONE },
    object: ["Board meeting", "Room 4"],
    change: ["Thu 3 Dec 2026, 14:00", "Fri 4 Dec 2026, 09:00"],
    consequence: ["Nobody tells", "Gus, Hana, Ivo, Jo", "Undo", "possible until"],
  },
  {
    name: "series-move",
    tool: "calendar_update_event",
    args: { ...CHOIR, weekday: "Wednesday", start: "2026-11-04T19:00", rrule: "FREQ=WEEKLY;BYDAY=WE", ...ZONE },
    object: ["the whole series", "Choir"],
    change: ["Mon 2 Nov 2026, 18:00", "Wed 4 Nov 2026, 19:00", "every Monday", "every Wednesday"],
    consequence: ["Times that are over change, too", "Undo", "possible until"],
  },
  {
    name: "series-delete",
    tool: "calendar_delete_event",
    args: CHOIR,
    object: ["Choir", "Home", "Monday 30 November 2026"],
    change: ["Delete", "the whole series", "every Monday, without end"],
    consequence: [
      "trash",
      "nothing is erased",
      "Times that are over go, too",
      "Mon 2 Nov 2026",
      "Undo",
      "possible until",
    ],
  },
  {
    name: "invitation",
    tool: "calendar_answer_invitation",
    args: { event_id: "Work/kickoff.ics", title: "Kickoff", answer: "accepted" },
    object: ["Kickoff", "Fay", "Wed 2 Dec 2026, 09:00"],
    change: ["Accept", "no answer", "accepted"],
    consequence: ["Nobody tells Fay", "Undo", "possible until"],
  },
];

/** The calls of the review that change contacts. */
export const CONTACT_CALLS: readonly CardCall[] = [
  {
    name: "contact-create",
    tool: "contacts_create_contact",
    args: {
      name: "Gus Miller",
      emails: [{ address: "gus@new.example" }],
      organization: "Fair Ltd",
      address_book: "people",
    },
    object: ["Gus Miller", "people"],
    change: ["Add", "gus@new.example", "Fair Ltd"],
    consequence: ["There is already", "gus1@example.org", "gus0@example.org", "Undo", "possible until"],
  },
  {
    name: "contact-update",
    tool: "contacts_update_contact",
    args: { ...GUS, emails: [{ address: "gus1@example.org", type: "home" }, { address: "new@example.org" }], note: "" },
    object: ["Gus Miller", "gus1@example.org"],
    change: ["Change 2 fields", "old@example.org", "new@example.org", "Met at the fair", "goes away"],
    consequence: ["Removed: note.", "Gone afterwards: old@example.org", "Undo", "possible until"],
  },
  {
    name: "contact-delete",
    tool: "contacts_delete_contact",
    args: GUS,
    object: ["Gus Miller", "gus1@example.org", "people", "+49 30 1", "Met at the fair"],
    change: ["Delete", "goes away"],
    consequence: ["trash", "nothing is erased", "Another one stays", "gus0@example.org", "Undo", "possible until"],
  },
];
