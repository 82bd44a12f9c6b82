import { expect, test } from "vitest";
import { fill, fillText, readReferences } from "../../../../src/service/flows/own/references.ts";

const scope = {
  inputs: { folder: "Tasks", count: 3, flag: false },
  steps: { find: { messages: [{ subject: "A" }, { subject: "B" }], odd: { "x-y": 1 } } },
  item: { subject: "{{inputs.folder}}", none: null },
};

test.each([
  ["{{inputs.count}}", 3],
  ["{{ inputs.flag }}", false],
  ["{{steps.find.messages.1.subject}}", "B"],
  ["{{steps.find.messages}}", [{ subject: "A" }, { subject: "B" }]],
  ["{{steps.find.odd.x-y}}", 1],
  ["{{item.none}}", null],
  ["{{steps.find.messages.length}} messages", "2 messages"],
  ["{{inputs.nothing}}", undefined],
  ["In {{inputs.folder}}: {{inputs.count}}{{inputs.nothing}}{{item.none}}", "In Tasks: 3"],
  ["All: {{steps.find.odd}}", 'All: {"x-y":1}'],
  [
    { a: ["{{inputs.nothing}}", "{{inputs.count}}"], b: "{{inputs.nothing}}", c: 7 },
    { a: [3], c: 7 },
  ],
])("%j is filled", (template, filled) => {
  expect(fill(template, scope)).toEqual(filled);
});

test("a value is data: what looks like a reference in it stays, and nothing inherited is reached", () => {
  expect(fill("{{item.subject}}", scope)).toBe("{{inputs.folder}}");
  expect(fillText("> {{item.subject}}", scope)).toBe("> {{inputs.folder}}");
  for (const path of ["inputs.constructor.name", "inputs.__proto__", "inputs.folder.length"]) {
    expect(fill(`{{${path}}}`, scope), path).toBeUndefined();
  }
  const filled = fill(JSON.parse('{"__proto__":"{{inputs.folder}}"}'), scope);
  expect(JSON.stringify(filled)).toBe('{"__proto__":"Tasks"}');
  expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
});

test("references are told from other braces", () => {
  expect(readReferences("{{inputs.a}} {{ item }} {x}")).toEqual([["inputs", "a"], ["item"]]);
  for (const text of ["{{inputs.a | upper}}", "{{}}", "{{inputs..a}}", "{{inputs.a", "{{{inputs.a + 1}}}"]) {
    expect(readReferences(text), text).toBeUndefined();
  }
});
