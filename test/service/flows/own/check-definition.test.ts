import { expect, test } from "vitest";
import { builtInIntegrations } from "../../../../src/apps/built-in.ts";
import { createCatalog } from "../../../../src/service/catalog/catalog.ts";
import { checkDefinition } from "../../../../src/service/flows/own/check-definition.ts";

const catalog = createCatalog(builtInIntegrations);
const facts = { name: "Keep", description: "Keeps mail." };
const inputs = { type: "object", properties: { folder: { type: "string" } } };
const find = { key: "find", call: "mail_search", arguments: { query: "is:unread" } };
const ask = { key: "ask", approve: "Keep in {{inputs.folder}}?" };
const keep = {
  key: "keep",
  call: "notes_create_page",
  each: "{{steps.find.messages}}",
  arguments: { title: "{{item.subject}}", body: "" },
};
const good = { ...facts, inputs, steps: [find, ask, keep] };
const check = (content: unknown) => checkDefinition("keep", content, catalog);
const list = (content: unknown) => {
  const checked = check(content);
  return "problems" in checked ? checked.problems.map(({ field, problem }) => `${field}: ${problem}`) : [];
};

test("a template without mistakes knows its apps and what each approval is for", () => {
  const checked = check(good);
  if (!("template" in checked)) throw new Error(list(good).join());
  expect(checked.template.steps).toMatchObject([
    { type: "call", key: "find", app: "mail" },
    { type: "approve", key: "ask" },
    { type: "call", key: "keep", app: "notes", approval: "ask", title: "Create a page" },
  ]);
  expect(checked.template.steps[0]).not.toHaveProperty("approval");
  expect(Object.keys(checked.template.inputs.properties)).toEqual(["folder", "mailConnectionId", "notesConnectionId"]);
});

test.each([
  [
    "a write without an approval",
    [find, keep],
    /^steps\[1\]: notes_create_page changes something; put a step with "approve"/,
  ],
  ["a write before its approval", [find, keep, ask], /^steps\[1\]: .*put a step with "approve" before it/],
  [
    "a write of what its approval cannot show",
    [ask, find, keep],
    /^steps\[2\]\.each: refers to \{\{steps\.find\}\}, which its approval does not know yet/,
  ],
  [
    "a second write of what the first one gives",
    [find, ask, keep, { ...keep, key: "more", each: "{{steps.keep}}" }],
    /^steps\[3\]\.each: refers to \{\{steps\.keep\}\}, which its approval does not know yet; put an approval after "keep"/,
  ],
  ["an approval of nothing", [find, ask], /^steps\[1\]: approves nothing/],
  [
    "no such tool",
    [{ ...find, call: "mail_serach" }],
    /^steps\[0\]\.call: names no tool of this service: "mail_serach"/,
  ],
  [
    "no such argument",
    [{ ...find, arguments: { query: "x", limmit: 1 } }],
    /^steps\[0\]\.arguments\.limmit: is no argument of mail_search; it takes: .*limit/,
  ],
  [
    "a missing argument",
    [ask, { ...keep, each: undefined, arguments: {} }],
    /^steps\[1\]\.arguments\.title: is missing/,
  ],
  [
    "no such input",
    [{ ...find, arguments: { query: "{{inputs.fodler}}" } }],
    /^steps\[0\]\.arguments\.query: refers to \{\{inputs\.fodler\}\}, which is no input; there are: folder/,
  ],
  [
    "a later step",
    [{ ...find, arguments: { query: "{{steps.find.x}}" } }],
    /^steps\[0\]\.arguments\.query: refers to .*no earlier step/,
  ],
  ["an entry of no list", [{ ...find, arguments: { query: "{{item.x}}" } }], /the step has no "each"/],
  [
    "code",
    [{ ...find, arguments: { query: "{{inputs.folder + 1}}" } }],
    /^steps\[0\]\.arguments\.query: has \{\{ \}\} that is no reference/,
  ],
  [
    "another root",
    [{ ...find, arguments: { query: "{{env.HOME}}" } }],
    /a reference begins with inputs, steps or item/,
  ],
  ["two equal keys", [find, find], /^steps\[1\]\.key: "find" is the key of another step/],
  ["a key that is none", [{ ...find, key: "Find it" }], /^steps\[0\]\.key: must be lower-case letters/],
  ["another member", [{ ...find, when: "x" }], /^steps\[0\]\.when: is not known here; remove it/],
  ["no kind", [{ key: "x" }], /^steps\[0\]: must have one of: call, approve, wait/],
  ["a wait for nothing", [{ key: "x", wait: {} }, find], /^steps\[0\]\.wait: must have either seconds or until/],
  ["a wait of no length", [{ key: "x", wait: { seconds: 0 } }, find], /^steps\[0\]\.wait\.seconds/],
  ["no steps", [], /^steps: /],
])("%s is refused", (_what, steps, problem) => {
  const found = list({ ...good, steps });
  expect(
    found.find((one) => problem.test(one)),
    found.join("\n"),
  ).toBeDefined();
});

test.each([
  ["a list", [], /^: must be: object/],
  ["no name", { ...good, name: undefined }, /^name: is missing; it must be: string/],
  [
    "an input of another type",
    { ...good, inputs: { ...inputs, properties: { a: { type: "file" } } } },
    /^inputs\.properties\.a\.type: /,
  ],
  [
    "an input with a name that is none",
    { ...good, inputs: { ...inputs, properties: { "a b": { type: "string" } } } },
    /^inputs\.properties\.a b: must be letters/,
  ],
  [
    "a required input that is none",
    { ...good, inputs: { ...inputs, required: ["x"] } },
    /^inputs\.required: names "x"/,
  ],
  [
    "an input that chooses an account",
    { ...good, inputs: { ...inputs, properties: { ...inputs.properties, mailConnectionId: { type: "string" } } } },
    /^inputs\.properties\.mailConnectionId: is there by itself/,
  ],
  [
    "a default of another type",
    { ...good, inputs: { ...inputs, properties: { folder: { type: "integer", default: "x" } } } },
    /^inputs\.properties\.folder\.default: must be: integer/,
  ],
  ["another member", { ...good, script: "x" }, /^script: is not known here/],
])("%s is no template", (_what, content, problem) => {
  const found = list(content);
  expect(
    found.find((one) => problem.test(one)),
    found.join("\n"),
  ).toBeDefined();
});
