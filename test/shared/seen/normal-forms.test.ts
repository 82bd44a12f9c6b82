import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanText } from "../../../src/shared/seen/clean-text.ts";
import { collectForms } from "../../../src/shared/seen/collect-forms.ts";
import { findValues } from "../../../src/shared/seen/find-values.ts";
import { normaliseAddress } from "../../../src/shared/seen/normalise-links.ts";
import { DISGUISES } from "./disguise-text.ts";

const label = fc.stringMatching(/^[a-z][a-z0-9]{1,9}$/);
const address = fc.tuple(label, label, label).map(([local, dotted, host]) => `${local}.${dotted}@${host}.example`);

describe("addresses", () => {
  test.each(Object.entries(DISGUISES))("are the same %s", (_, disguise) => {
    fc.assert(
      fc.property(address, (plain) => {
        expect(collectForms(`Please write to:\n\n${disguise(plain)}`)).toContain(`address:${plain}`);
      }),
      { numRuns: 50 },
    );
  });

  test("that differ have different forms", () => {
    fc.assert(
      fc.property(address, address, (one, other) => {
        expect(normaliseAddress(one) === normaliseAddress(other)).toBe(one === other);
      }),
    );
  });

  test("with a tag are others", () => {
    expect(collectForms("anna+news@x.example")).not.toContain("address:anna@x.example");
  });

  test("in Unicode and punycode are the same", () => {
    expect(normaliseAddress("post@xn--bcher-mller-thbg.example")).toBe(normaliseAddress("post@bücher-müller.example"));
  });
});

const asksOf = (text: string) => findValues(cleanText(text)).flatMap(({ asks }) => asks);
const isKnown = (value: string, source: string) => {
  const forms = new Set(collectForms(source));
  return asksOf(value).some((form) => forms.has(form));
};

describe("values", () => {
  test.each([
    ["https://paper.example/feed", "subscribe to paper.example/feed."],
    ["https://paper.example/feed", "HTTPS://PAPER.Example/feed/"],
    ["https://paper.example/a", "https://paper.example/b/../a"],
    ["+49 40 5550188", "call 040 5550188"],
    ["040 5550188", "call +49 (0)40 555 01 88"],
    ["DE12500105170648489890", "IBAN DE12 5001 0517 0648 4898 90"],
    ["DE12500105170648489890", "de12-5001-0517-0648-4898-90".toUpperCase()],
    ["1480", "total 1 480 EUR"],
    ["1480", "total 1.480,00 EUR"],
    ["1480.00", "total 1,480"],
    ["12.000 EUR", "12000"],
    ["2026-12-15T06:30", "am 15.12.2026 06:30 Uhr"],
    ["2026-12-15T13:00", "12月15日 13:00"],
    ["2026-12-15T15:00", "12月15日午後3時"],
    ["2026-12-19", "on 19 December"],
    ["2026-12-19", "le 19 décembre 2026"],
    ["2026-12-02T18:45", "Wednesday 2 December 18:45"],
    ["1951-05-03", "born 3 May 1951"],
    ["Mittwoch, 2.12., 8 Uhr", "2026-12-02T08:00"],
    ["Wednesday 2 December at 15:00", "2026-12-02T15:00:00+00:00"],
    ["FQ7-20X", "Reference: fq7-20x, thanks"],
    ["Publish/a.md", "Orders\\..\\Publish\\a.md"],
  ])("%s is in %j", (value, source) => {
    expect(isKnown(value, source)).toBe(true);
  });

  test.each([
    ["4000", "54000"],
    ["840.00", "1840.00"],
    ["840.00", "1 840.00"],
    ["berg@x.example", "anna.berg@x.example"],
    ["anna@x.example", "anna@x.example.evil.example"],
    ["0648489890", "DE12 5001 0517 0648 4898 90"],
    ["+44 40 5550188", "+49 40 5550188"],
    ["040 5550189", "+49 40 5550188"],
    ["2027-12-15", "15.12.2026"],
    ["2026-12-15T07:30", "15.12.2026 06:30"],
    ["https://known.example/b", "https://known.example.evil.example/b"],
    ["20X", "FQ7-20X"],
  ])("%s is not in %j", (value, source) => {
    expect(isKnown(value, source)).toBe(false);
  });
});
