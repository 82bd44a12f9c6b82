import type { KnownDifference } from "./verdict.ts";

/** Differences that stay, each with its reason. */
export const KNOWN: readonly KnownDifference[] = [
  {
    file: /_base64(?:_escaped_markup)?\.xml$/,
    line: /: ours/,
    why: 'Base64 in Atom 0.3 (mode="base64", replaced in 2005; the feed library does not pass the mode on), and in titles and summaries of Atom 1.0, where RFC 4287 allows text, html and xhtml alone.',
  },
  {
    file: /rss_channel_item_author_\w+_markup\.xml$/,
    line: /author: ours "p Item/,
    why: "Tags in the author of an RSS item: the feed library reads a name and a mail address there, and a tag is neither.",
  },
  {
    file: /rss-parser.*encoding\.rss$/,
    line: /\ufffd/,
    why: "Expected with replacement characters: the suite reads the file in a wrong charset on purpose.",
  },
  {
    file: /reddit-(?:atom|home)\.rss$/,
    line: /text: ours/,
    why: "rss-parser moves the texts of links behind those around them; ours keeps the order of the document.",
  },
  { file: /xml2js-options\.rss$/, line: /theirs "EMPTY"/, why: "Expected with options of rss-parser's XML reader." },
  {
    file: /complexNamespaceFeed\.xml$/,
    line: /url: ours ""/,
    why: 'The only link has rel="self": it is the entry itself as Atom, no page (RFC 4287, section 4.2.7.2).',
  },
  {
    file: /iconv\.xml$/,
    line: /theirs "[^"]*\ufffd/,
    why: "feedparser wants to be given UTF-8; ours reads windows-1251, as the document says.",
  },
  {
    file: /intertwingly\.atom$/,
    line: /text: ours "[^"]*<IfModule/,
    why: "An escaped tag in XHTML is a text (RFC 4287, section 3.1.1.3); feedparser makes HTML of it that does not escape it again.",
  },
  {
    file: /(?:KOrganizer_Test(?:01|10|13)|LibICal_TestCase(?:02|42)|unsorted\/rdate|vCalTestCase(?:03|13))\.(?:ics|vcs)$/,
    line: /is missing|is too much/,
    why: "The start counts as the first time also where the rule does not name it (RFC 5545, section 3.3.10); KCalendarCore leaves it out, or does not count it.",
  },
  {
    file: /KAlarm_TestCase06\.ics$/,
    line: /2005-05-31/,
    why: "The suite lists what repeats; this event does not.",
  },
  {
    file: /(?:example_rrule|test14|test2|tests\/recurrence)\.ics$/,
    line: /is missing|is too much/,
    why: "The files name zones of the IANA database and do not describe them, as calendars may (RFC 7809); ical.js knows only zones that a file describes, and reads these times as if they were in none.",
  },
  {
    file: /ical_0\.8\.0\/package\/test\/test3\.ics$/,
    line: /is missing|is too much/,
    why: "Times without a zone are in that of X-WR-TIMEZONE, as Google and Apple write it; ical.js does not read it.",
  },
  {
    file: /ical_0\.8\.0\/package\/test\/test6\.ics$/,
    line: /is missing|is too much/,
    why: "VALUE=DATE beside a time of day: ours has the time, as the tests of the suite itself want it; ical.js cuts it off.",
  },
  {
    file: /John_Doe_GMAIL\.vcf$/,
    line: /name: ours "(?:.*)James Doe Sr\./,
    why: "A comma in FN divides nothing (RFC 2426, section 3.1.1); vobject cuts there.",
  },
  {
    file: /John_Doe_MAC_ADDRESS_BOOK\.vcf$/,
    line: /Color: Blue/,
    why: "vobject keeps the backslash before a colon.",
  },
  {
    file: /John_Doe_MS_OUTLOOK\.vcf$/,
    line: /notes: ours/,
    why: "vobject cuts quoted-printable at its first break with =0D=0A.",
  },
  {
    file: /(?:quotedprintable|unwrap)\.vcf$/,
    line: /name: ours/,
    why: "vobject does not decode quoted-printable whose name is written in small letters.",
  },
  {
    file: /lots\.vcf$/,
    line: /birthday: ours "0525"/,
    why: "1604 stands for no year where X-APPLE-OMIT-YEAR says so.",
  },
  {
    file: /multi-igor2?\.msg$/,
    line: /\(text\/plain\) is missing|attachment/,
    why: "A plain text that is not marked as an attachment is shown with the others, as mail programs do.",
  },
  {
    file: /uu-\w+\.msg$/,
    line: /\.gif|attachment|text/,
    why: "uuencode in a text is no MIME: the text is shown as it stands there.",
  },
  {
    file: /multi-(?:frag|nested\d?)\.msg$/,
    line: /attachment|text:/,
    why: "A message in a message that is not marked as an attachment is shown in the text, with who sent it and when.",
  },
  {
    file: /(?:ak-0696|jt-0498|mp-msg-rfc822|frag|re-fwd|multi-digest|test3)\.msg$|data\/msg_(?:02|05|06|11|28|30|42|46)\.txt$/,
    line: /text: ours|attachments:/,
    why: "The same: mailparser shows the innermost text or a file, ours the texts of all messages, with times in ISO 8601.",
  },
  {
    file: /data\/msg_(?:16|43)\.txt$/,
    line: /text: ours|attachments:/,
    why: "The report of a mail server for programs (message/delivery-status) is a file beside the text; mailparser makes it text.",
  },
  {
    file: /data\/msg_40\.txt$/,
    line: /text: ours/,
    why: "Its only boundary is damaged: ours shows all there is, mailparser nothing.",
  },
];
