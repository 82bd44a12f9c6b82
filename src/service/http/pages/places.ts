import type { ListPlace } from "../../approvals/list-approvals.ts";

/** The address of the part of a list that begins after a place. */
export function toAddress(path: string, { time, id }: ListPlace): string {
  return `${path}?after=${encodeURIComponent(`${time}~${id}`)}`;
}

/** A place in a list, as its address has it. */
export function readPlace(text: string | undefined): ListPlace | undefined {
  const [time = "", id = ""] = text?.split("~") ?? [];
  return id === "" ? undefined : { time, id };
}
