import type { MessagePart, ParsedMail } from "../mail-message.ts";

/** What the thread is told to parse. */
export interface ParseOrder {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly part: MessagePart;
}

/** What the thread says: that it has loaded its code, then one answer for each order. */
export type ParseAnswer =
  | { readonly type: "ready" }
  | { readonly type: "parsed"; readonly mail: ParsedMail }
  | { readonly type: "unreadable"; readonly words: string };

/** Bytes that can change threads without being copied: alone in their memory. Copies those that are not. */
export function separateBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(bytes);
}
