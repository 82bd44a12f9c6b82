import { shortenText } from "../../../shared/base/text.ts";
import { type ContentBlock, listLines } from "../../collections/content-tree.ts";
import { firstParam, readRawLine } from "../../collections/content-values.ts";

/** Whoever invited, or is invited. */
export interface Person {
  readonly address: string;
  readonly name?: string;
  /** As it is stored, in lower case; `needs-action` where nothing was answered. */
  readonly answer?: string;
  readonly optional?: true;
}

/** Those that lines such as ATTENDEE name. */
export function listPeople(event: ContentBlock, name: "ATTENDEE" | "ORGANIZER"): Person[] {
  return listLines(event, name).flatMap((line) => {
    const raw = readRawLine(line);
    if (raw === undefined) return [];
    const called = firstParam(raw.params, "cn");
    const isOptional = firstParam(raw.params, "role")?.toUpperCase() === "OPT-PARTICIPANT";
    return [
      {
        address: toAddress(raw),
        ...(called !== undefined && { name: shortenText(called, 200) }),
        ...(name === "ATTENDEE" && { answer: (firstParam(raw.params, "partstat") ?? "NEEDS-ACTION").toLowerCase() }),
        ...(isOptional && { optional: true as const }),
      },
    ];
  });
}

/** The mail address of a line such as ATTENDEE, in lower case. */
export function toAddress({ params, value }: NonNullable<ReturnType<typeof readRawLine>>): string {
  const mail = /^mailto:(.*)$/i.exec(value.trim())?.[1] ?? firstParam(params, "email");
  return shortenText((mail ?? value).trim().toLowerCase(), 320);
}
