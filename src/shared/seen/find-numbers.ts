import type { FoundValue } from "./found-value.ts";
import { phoneForms } from "./phone-forms.ts";

/** An IBAN, or another account that begins with a country and two digits. */
const IBAN =
  /(?<![A-Za-z0-9])([A-Z]{2} ?\d\d(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?(?=[A-Z]{0,2}\d)[A-Z0-9]{1,3})?)(?![A-Za-z0-9])/g;
const CLOSED_IBAN = /(?<![A-Za-z0-9])([A-Za-z]{2}\d\d[A-Za-z0-9]{11,30})(?![A-Za-z0-9])/g;

/** Groups of digits that belong together: phones, accounts, codes of locks. */
const GROUPS =
  /(?<![A-Za-z0-9.,:/#_-])[+(]{0,2}\d{1,12}(?:(?:\) ?|[ /-]| ?\(|\.(?=\d\d\.\d\d))\d{1,12}){1,9}(?![A-Za-z0-9])(?![.,]\d)/g;

const THOUSANDS = /^\d{1,3}(?:([ .,'])\d{3})(?:\1\d{3})*(?:[.,]\d{1,4})?$/;

const NUMBER =
  /(?<![A-Za-zÀ-ɏ0-9])(?<!\d[.,])(?:\d{1,3}([ .,'])\d{3}(?:\1\d{3})*(?:[.,]\d{1,4})?|\d{1,30}(?:[.,]\d{1,12})?)(?!\d)(?![.,]\d)/g;

const CURRENCY_AFTER =
  /^ ?(?:€|\$|£|¥|円|eur(?:os?)?|usd|gbp|jpy|chf|sek|nok|dkk|kr|pounds?|dollars?|francs?|franken)(?![A-Za-z])/i;
const CURRENCY_BEFORE = /(?:€|\$|£|¥|\b(?:eur|usd|gbp|jpy|chf|sek|nok|dkk)) ?$/i;

/** Codes: letters and digits together, with hyphens or points between. */
const CODE =
  /(?<![A-Za-z0-9])(?=[A-Za-z0-9._/-]{0,40}\d)[A-Za-z0-9]{1,30}(?:[-._/][A-Za-z0-9]{1,30}){0,6}(?![A-Za-z0-9])/g;

/** IBANs and other long account numbers. */
export function findAccounts(text: string): FoundValue[] {
  return [IBAN, CLOSED_IBAN].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ 1: account = "", index }) => {
      const form = `account:${account.replaceAll(/[ -]/g, "").toUpperCase()}`;
      return { kind: "account", at: index, end: index + account.length, asks: [form], gives: [form] } as const;
    }),
  );
}

/** Phone numbers and other groups of digits, six or more in all. */
export function findGroups(text: string): FoundValue[] {
  return [...text.matchAll(GROUPS)].flatMap(({ 0: whole, index }) => {
    const trimmed = whole.replace(/^\((?!\d{1,6}\))/, "");
    const at = index + whole.length - trimmed.length;
    const value = THOUSANDS.test(trimmed) ? undefined : groupsValue(trimmed, at);
    return value ? [value] : [];
  });
}

/** A phone number or groups of digits as a value. */
export function groupsValue(text: string, at: number): FoundValue | undefined {
  const digits = text.replaceAll(/\D/g, "");
  if (digits.length < 5 || digits.length > 24) return undefined;
  const phone = phoneForms(text);
  const account = `account:${digits}`;
  return {
    kind: phone && !/^\d+-\d+-?\d*$/.test(text) ? "phone" : "account",
    at,
    end: at + text.length,
    asks: [account, ...(phone?.asks ?? [])],
    gives: [account, ...(phone?.gives ?? [])],
  };
}

/** Numbers and amounts. */
export function findNumbers(text: string): FoundValue[] {
  return [...text.matchAll(NUMBER)].map(({ 0: whole, index }) => {
    const end = index + whole.length;
    const after = CURRENCY_AFTER.exec(text.slice(end, end + 10))?.[0].length ?? 0;
    const before = CURRENCY_BEFORE.exec(text.slice(Math.max(0, index - 5), index))?.[0].length ?? 0;
    const forms = numberForms(whole);
    const kind = after > 0 || before > 0 ? "amount" : "number";
    return { kind, at: index - before, end: end + after, asks: forms, gives: forms } as const;
  });
}

/** Forms of a number as it is written, without its separators; two where it can be read in two ways. */
export function numberForms(written: string): string[] {
  const account = /^\d{6,}$/.test(written) ? [`account:${written}`, ...(phoneForms(written)?.gives ?? [])] : [];
  if (/^0\d{4,}$/.test(written)) return account.length > 0 ? account : [`number:${written}`];
  const grouped = THOUSANDS.test(written) && !/^0[.,]/.test(written);
  const plain = written.replaceAll(/[ ']/g, "");
  const points = plain.replaceAll(",", ".");
  const parts = points.split(".");
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return [`number:${trimNumber(plain)}`, ...account];
  if (!grouped) return [`number:${trimNumber(`${parts.slice(0, -1).join("")}.${last}`)}`];
  const separators = plain.replaceAll(/\d/g, "");
  const decimals = new Set(separators).size === 2 || (written.includes(" ") && separators !== "") || last.length !== 3;
  if (decimals) return [`number:${trimNumber(`${parts.slice(0, -1).join("")}.${last}`)}`];
  const whole = `number:${trimNumber(parts.join(""))}`;
  return parts.length === 2 && !/^0+$/.test(last) ? [whole, `number:${trimNumber(points)}`] : [whole];
}

function trimNumber(text: string): string {
  const [whole = "", fraction = ""] = text.split(".");
  const tail = fraction.replace(/0+$/, "");
  return `${whole.replace(/^0+(?=\d)/, "")}${tail === "" ? "" : `.${tail}`}`;
}

/** Codes of orders, bookings and things. */
export function findCodes(text: string): FoundValue[] {
  return [...text.matchAll(CODE)].flatMap(({ 0: code, index }) => {
    if (!/\d/.test(code) || /^\d+(?:[.,]\d+)*$/.test(code) || /^\d+[A-Za-z]{1,3}$/.test(code)) return [];
    const form = `code:${code.toUpperCase()}`;
    return [{ kind: "code", at: index, end: index + code.length, asks: [form], gives: [form] } as const];
  });
}
