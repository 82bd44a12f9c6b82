const CARD = "test/plugin/calls/ask/card.test.ts";
const SEEN = "test/approvals/cards.test.ts";
const BINDING = "test/plugin/calls/approval-binding.test.ts";
const HELD = "test/service/approvals/held-calls.test.ts";
const OTHERS = "test/service/approvals/other-calls.test.ts";
const MEANWHILE = "test/service/approvals/changed-meanwhile.test.ts";
const ORDER = "test/service/approvals/order.test.ts";
const REACH = "test/service/approvals/rules-reach.test.ts";
const INBOX = "test/service/http/pages/inbox.test.ts";
const EDIT = "test/service/http/pages/inbox-edit.test.ts";
const OWNER = "test/plugin/calls/owner-approval.test.ts";
const RULES = "test/service/access/rules.test.ts";
const RAISED = "test/plugin/calls/raised-calls.test.ts";
const DESTROYS = "test/service/executions/always-never-destroys.test.ts";
const NEVER = "test/service/mcp/never-confirms.test.ts";
const CRASH = "test/plugin/calls/crash.test.ts";
const KEPT = "test/plugin/calls/journal/kept-approvals.test.ts";
const TERMINAL = "test/plugin/runtimes/terminal/approve-in-terminal.test.ts";
const PERMISSION = "test/service/executions/permission.test.ts";

const LOOK = "test/service/executions/previews.test.ts";
const LOOKED = "test/plugin/calls/previewed-calls.test.ts";
const HELD_LOOK = "test/service/approvals/previewed.test.ts";
const NOTES = "test/apps/notes/note-previews.test.ts";

/** Words of a page, the test file that shows them, and a part of the title of the test there. */
export type Claim = readonly [words: string, file: string, title: string];

/** What `docs/approvals.md` promises, by heading. */
export const APPROVALS: Readonly<Record<string, readonly Claim[]>> = {
  Approvals: [["With the plugin the model cannot approve", BINDING, "a model cannot confirm by itself"]],
  "When a human is asked": [
    ["| it reads | nobody is asked |", BINDING, "a read asks nobody"],
    [
      "it is sent unconfirmed; the service has to ask",
      "test/plugin/calls/network.test.ts",
      "a tool whose effect nobody states",
    ],
  ],
  "What is shown": [
    ["The arguments are the final ones", BINDING, "shows a write before any request is sent"],
    ["which no value can draw or cross", CARD, "cannot be forged by text from the model or the service"],
    ["are shown as `\\uXXXX`", CARD, "makes invisible tag characters and zero-width spaces visible"],
    ["every omission is counted", CARD, "leaves out what says nothing about this call first"],
    ["A card that leaves out a part of the call itself says NOT COMPLETE", SEEN, "every argument is seen"],
    ["An answer counts at the question only", TERMINAL, "never takes an empty line or any other word for a yes"],
    ["in a fence that nothing in it closes", CARD, "stands in a fence where Markdown is rendered"],
  ],
  "In the inbox": [
    ["A `confirmed` of the caller counts for nothing.", HELD, "a confirmation in the call counts for nothing"],
    ["also when the service is killed in between", "test/approvals/killed.long.test.ts", "runs a call once"],
    ["always, whatever its key, unless a", NEVER, "no spelling of a confirmation runs a call"],
    [
      "Other bytes make the call `void`",
      "test/service/approvals/changed-files.test.ts",
      "an approved call is void for",
    ],
    ["Only a browser that has opened a call can decide about it", INBOX, "cannot be decided by a browser that has not"],
    ["it exists for owners only", "test/service/http/pages/always-allow.test.ts", "nor to somebody who only approves"],
    ["with one decision for those that are chosen", REACH, "all of one agent and tool are seen and declined at once"],
    ["calls that this browser has opened can be chosen", INBOX, "only if this browser has opened each, as it is"],
    ["run one after another, in the order in which they were asked", ORDER, "five run in the order in which"],
    ["whether they were approved together or one by one", ORDER, "calls that are approved one by one"],
    ["also after a restart", ORDER, "after a restart in the middle the rest runs in its order"],
    ["with several nodes", "test/service/approvals/postgres/order.test.ts", "several nodes run the approved calls"],
    ["other accounts go on beside them", ORDER, "accounts do not wait for each other"],
    ["they wait again, say why", ORDER, "what cannot be run any more stops those behind it, too"],
    ["those behind one that was withdrawn, expired or has changed stay", ORDER, "behind one that was withdrawn or has"],
    ["They pass every check that a new call passes", EDIT, "refused arguments change nothing"],
    ["or they do more than before", OTHERS, "an edit that does more than what was shown is looked at"],
    ["none can be put in", EDIT, "a file that was not asked"],
    ["is the same for an agent that asks again", EDIT, "what the agent asks again is the same call"],
    ["Its page and the log show who edited", EDIT, "the log says who edited, and what was asked"],
    ["joins its open request", HELD, "a duplicate joins the pending request"],
    ["it is recognised after its end, too", HELD, "a call is recognised after its end"],
    ["Nobody is asked a second time at the device", OWNER, "nobody is asked twice"],
    ["goes on waiting or gets the result", OWNER, "a call that waited too long goes on in another process"],
    ["An aborted call withdraws its request", OWNER, "an aborted call withdraws its request"],
    ["A duplicate is answered with the decline for ten minutes", HELD, "answered with the decline for ten minutes"],
    ["withdrawn by the caller, or nobody decided in time", HELD, "nothing runs when it expired, was withdrawn"],
    [
      "the account, the action, a file, the key or what it acts on had changed",
      MEANWHILE,
      "nothing runs when the action has changed",
    ],
  ],
  Rules: [
    ["A call that waits and is blocked by now is declined", REACH, "a block ends what waits"],
    ["it runs at once, as the one that waited", REACH, "it runs once, as the one that waited"],
    ["is refused with 403", RULES, "a block refuses a call at every endpoint"],
    ["also when it only reads", RULES, "an ask holds up a read until it is confirmed"],
    ["A device still asks its own human", OWNER, "a device that asks its own human still does"],
    ["the strictest counts", RULES, "is the strictest, and names an action whose level is a guess"],
    ["Nothing is allowed that deletes or administers", RULES, "never a delete or an administration"],
    ["is in no list, search or description for it", "test/service/access/shown-rules.test.ts", "is shown nowhere"],
    ["`google_*` allows nothing of `google-drive`", RULES, "reaches no app whose id begins with it"],
  ],
  "What a decision is bound to": [
    ["when it repeats both, once, before it expires", "test/plugin/calls/ask/decide.test.ts", "accepts an answer once"],
    ["When anything changes in between", BINDING, "a file changed after the yes is not sent"],
    ["another file with the same MD5", BINDING, "a file made to have the MD5 of another"],
    ["and shown again otherwise", BINDING, "an edit that a check changed is shown again"],
    ["nothing is sent: `needs_approval`", BINDING, "nobody to ask: needs_approval, nothing sent"],
    ["in a file that only you can read", "test/cli/open-editor.test.ts", "in a file of theirs alone"],
    ["is opened again as you left it", TERMINAL, "opens a mistake again as it was left"],
    ["on a known account", "test/plugin/calls/ask/standing-rules.test.ts", "are never given without a known account"],
    ["needs a new approval in any case", "test/plugin/calls/catalog/pins.test.ts", "does not reach a changed tool"],
  ],
  "What a call would do": [
    ["by reads alone", LOOK, "says what it would do, and does nothing"],
    ["for at most five seconds", LOOK, "is asked about all the same when the look"],
    ["A card then begins with what it found", LOOKED, "is shown with it, and runs in the state that was shown"],
    ["Names are those of the app", NOTES, "shows which page is deleted and where it goes"],
    ["and nobody is asked", LOOKED, "that cannot work is the answer to the model"],
    [
      "When something was changed in between, nothing runs",
      LOOK,
      "runs nothing in another one, and brings the new preview",
    ],
    ["ask again and show what the call would do now", LOOKED, "is asked about again when it would do something else"],
    [
      "a call that only adds something runs all the same, whoever made the change",
      "test/service/approvals/follow-own-changes.test.ts",
      "two calls that add to one page and were approved together both run",
    ],
    ["lets it wait once more", HELD_LOOK, "a late yes runs nothing once the box was changed"],
    ["the card says so", LOOKED, "is asked about without it where the present state cannot be read"],
    [
      "Every write of mail, calendar, contacts, drive, notes and feeds has a preview",
      "test/apps/previews.test.ts",
      "every write of a built-in app can be looked at before it is made",
    ],
    ["true in the description of a tool", LOOK, "is announced by the description of the tool"],
    ["404 `preview_unavailable`", LOOK, "is refused like the call before anybody is asked"],
    ["has it as `error.preview`", LOOK, "is answered with what it would do"],
    ["an idempotency key stays free", LOOK, "leaves the idempotency key free when nothing ran"],
  ],
  "Calls that count as deleting": [
    ["no rule and no **always** covers them", RAISED, "whatever rule allows its action"],
    ["a key that may not delete may not make them", RAISED, "a key that may not delete may not take away"],
    ["lies in its `.trash`", DESTROYS, "a rule that allows every write of an app"],
    ["a call that would do more by then is `void`", RAISED, "would take away more than its owner was shown"],
    ["the level that its human was shown", RAISED, "asks again when the service finds that a call would take"],
  ],
  "MCP clients": [
    ["a `confirmed` or `confirm` among the arguments is dropped", BINDING, "a model cannot confirm by itself"],
    [
      "for that call and those arguments only",
      "test/service/mcp/approval.test.ts",
      "does not carry over to other input",
    ],
    ["So `confirm: true` approves nothing there", NEVER, "no spelling of a confirmation runs a call"],
    [
      "No form is believed that nobody can have filled in",
      "test/plugin/runtimes/mcp/serve-mcp.test.ts",
      "without its human",
    ],
    ["is given the owner's page first", "test/service/mcp/approval.test.ts", "is given the owner's page"],
    ["with the approval's id as `execution_id`", NEVER, "its result is found by the approval's id"],
  ],
  "After a crash": [
    [
      "| `pending` | a human was asked and had not answered",
      CRASH,
      "killed when asked, and declined in the new process",
    ],
    ["| `sending` | sent, no answer |", CRASH, "the outcome is unknown and it is never sent again"],
    ["sent again under its key", "test/plugin/calls/keyed-changes.test.ts", "while everything is as it was approved"],
    [
      "is answered from the journal, not sent",
      "test/plugin/calls/network.test.ts",
      "is answered from the journal, over a restart",
    ],
    [
      "A yes given before the duplicate was sent does not count",
      "test/plugin/calls/shared-folder.test.ts",
      "the yes does not",
    ],
    ["of two simultaneous duplicates only one is sent", KEPT, "hear the same, and make it once"],
    ["before the approval that they rest on has expired", KEPT, "stays until it has expired, however many"],
    ["unanswered ones never by age", "test/plugin/calls/journal/journal.test.ts", "is old, but no unanswered call"],
  ],
  "Look back": [
    ["and who or what let it run", PERMISSION, "a device, a rule or the level let a call run"],
    ["So does `svc log export`", PERMISSION, "the log, its export and a lookup"],
    ["without the names of people", PERMISSION, "they name the person and the approval of a held call"],
    [
      "is refused with its path and what to do",
      "test/plugin/calls/journal/state-file.test.ts",
      "is refused, and left as it is,",
    ],
  ],
};

/** What `README.md` says of approvals. */
export const README: readonly Claim[] = [
  ["The model has no way to confirm its own call", BINDING, "a model cannot confirm by itself"],
  ["outcome says `unknown`", CRASH, "the outcome is unknown and it is never sent again"],
  ["no argument of its model", NEVER, "no spelling of a confirmation runs a call"],
];
