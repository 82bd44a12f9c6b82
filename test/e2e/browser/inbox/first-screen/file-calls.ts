import type { CardCall } from "./card-call.ts";

/** The calls of the review that change a drive. */
export const DRIVE_CALLS: readonly CardCall[] = [
  {
    name: "file-save",
    tool: "drive_upload_file",
    args: { folder: "Invoices/2026-11", name: "Quote Bruno.pdf" },
    file: { field: "file", name: "quote.pdf", text: "%PDF-1.4 a quote of Bruno for the roof." },
    object: ["Quote Bruno.pdf", "Invoices/2026-11"],
    change: ["Save", "39 bytes"],
    consequence: ["New folder", "Undo", "possible until"],
  },
  {
    name: "file-replace",
    tool: "drive_upload_file",
    args: { name: "Will.txt", if_exists: "replace" },
    file: { field: "file", name: "will.txt", text: "My last will.\nThe house goes to Otto.\n" },
    object: ["Will.txt", "37 bytes", "2026-11-20"],
    change: ["Replace", "The house goes to Eva."],
    inInbox: ["The house goes to Otto."],
    consequence: ["is replaced", "the old version is kept in .trash", "Undo", "possible until"],
  },
  {
    name: "file-rename",
    tool: "drive_move_file",
    args: { path: "Scans/IMG_1001.txt", destination: "Scans/Passport of Ana.txt" },
    object: ["IMG_1001.txt", "Scans"],
    change: ["Rename", "Passport of Ana.txt"],
    consequence: ["Undo", "possible until"],
  },
  {
    name: "file-move-replace",
    tool: "drive_move_file",
    args: { path: "Drafts/Will.txt", destination: "Will.txt", if_exists: "replace" },
    object: ["Will.txt", "Drafts", "37 bytes", "38 bytes"],
    change: ["Move", "top of the drive", "replacing a file"],
    consequence: ["is replaced", "the old version is kept in .trash", "2026-11-20", "Undo", "possible until"],
  },
  {
    name: "folder-delete",
    tool: "drive_delete_file",
    args: { path: "Photos" },
    object: ["folder", "Photos", "40 files", "320 bytes", "2026-11-20"],
    change: ["Delete"],
    consequence: ["moves to .trash", "nothing is erased", "Undo", "possible until"],
  },
  {
    name: "folder-create",
    tool: "drive_create_folder",
    args: { path: "Invoices/2026/11" },
    object: ["Invoices/2026/11"],
    change: ["Create", "the folder"],
    consequence: ['New folder: "Invoices/2026"', 'New folder: "Invoices/2026/11"', "Undo", "possible until"],
  },
];

/** The calls of the review that change notes. */
export const NOTE_CALLS: readonly CardCall[] = [
  {
    name: "page-create",
    tool: "notes_create_page",
    args: { title: "Week 48", body: "Order the wood.\nPay Bruno." },
    object: ["Week 48", "Local notes"],
    change: ["Create the page", "Order the wood.", "Pay Bruno."],
    consequence: ["A page of that name is there already", "Week 48 (2).md", "Undo", "possible until"],
  },
  {
    name: "page-text",
    tool: "notes_update_page",
    args: { page_id: "Budget.md", title: "Budget", body: "See the table of Eva." },
    object: ["Budget"],
    change: ["4 lines gone, 1 new", "Rent 900", "Food 400", "Savings 200", "See the table of Eva."],
    consequence: ["4 lines of the present text will be gone", "Undo", "possible until"],
  },
  {
    name: "page-fields",
    tool: "notes_update_page",
    args: { page_id: "Roof.md", title: "Roof", tags: ["done"], properties: { status: null } },
    object: ["Roof"],
    change: ["Tags", "house", "done", "status", "open", "goes away"],
    consequence: ["Undo", "possible until"],
  },
  {
    name: "page-delete",
    tool: "notes_delete_page",
    args: { page_id: "Old plan.md", title: "Old plan" },
    object: ["Old plan", "12 lines", "Step 1 of the old plan", "Step 4 of the old plan"],
    change: ["Delete the page"],
    consequence: ["moves to the trash", "nothing is erased", "Undo", "possible until"],
  },
];

/** The calls of the review that change the feeds; `host` is where they are. */
export function listFeedCalls(host: string, feedId: string): readonly CardCall[] {
  return [
    {
      name: "feed-subscribe",
      tool: "feeds_subscribe",
      args: { url: `http://${host}/news`, title: "Harbour news" },
      object: [host, `http://${host}/news`],
      change: ["Subscribe", "Harbour news"],
      consequence: ["The service fetches this address", "again whenever feeds are read", "Undo", "possible until"],
    },
    {
      name: "feed-unsubscribe",
      tool: "feeds_unsubscribe",
      args: { feed_id: feedId, url: `http://${host}/garden` },
      object: ["Garden Weekly", "42 entries"],
      change: ["Unsubscribe"],
      consequence: [".trash", "kept copies", "Undo", "possible until"],
    },
  ];
}
