/** Lines of an event of others, with the user of the tests among those who are invited. */
export const INVITED = [
  "UID:inv",
  "SUMMARY:Review",
  "DTSTART;TZID=Europe/Berlin:20261203T140000",
  "DTEND;TZID=Europe/Berlin:20261203T150000",
  "ORGANIZER;CN=Gus:mailto:gus@example.org",
  "ATTENDEE;CN=Hana:mailto:hana@example.org",
  "ATTENDEE:mailto:ana@example.org",
];

/** Which event that is, as arguments name it. */
export const review = { event_id: "personal/inv.ics", title: "Review" };
