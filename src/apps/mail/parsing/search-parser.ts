import { ServiceError } from "../../../service/service-error.ts";
import type { NotShown } from "../../port/not-shown.ts";
import type { MailPlace } from "../mail-box.ts";
import type { MailMessage } from "../mail-message.ts";
import type { MailQuery } from "../mail-query.ts";
import type { MailParser } from "./mail-parser.ts";

/** One message of a search is cut to a megabyte, which takes some 50 ms. */
const LIMIT_MS = 3000;
/** Messages of one search that may take longer than that; of those behind them only the headers are read. */
const MAX_SLOW = 5;
const MAX_TEXT = 10_000;
const MAX_HEAD = 64 * 1024;
const LATE = "Its beginning has no text: that lies behind the part that a search looks at. read_message shows it.";
const HEADERS_ONLY = "It could not be read, or not in time: only its headers were looked at.";
const UNREADABLE = "It cannot be read, or not in time, and is left out.";

/** Parses the messages of one search: an unreadable message must not hide the others. */
export interface SearchParser {
  /** The message, or only what its headers say; undefined when it does not match or not even they can be read. */
  parse(bytes: Buffer, place: Pick<MailPlace, "id">, o?: SearchedPart): Promise<MailMessage | undefined>;
  /** Messages of which less was looked at than the search needs. */
  readonly notShown: readonly NotShown[];
}

/** What is looked for, and where. */
interface SearchedPart {
  readonly query?: MailQuery;
  /** Whether there are bytes behind those that are parsed. */
  readonly isCut?: boolean;
}

/** Creates a {@link SearchParser} for one search. */
export function createSearchParser(
  parser: MailParser,
  { account, signal, limitMs = LIMIT_MS }: { account: string; signal: AbortSignal; limitMs?: number },
): SearchParser {
  let slow = 0;
  const notShown: NotShown[] = [];
  const hear = (error: unknown) => {
    // Only what ended the thread took time.
    if (error instanceof ServiceError && error.options.cause !== undefined) slow += 1;
    return undefined;
  };
  return {
    notShown,
    async parse(bytes, { id }, { query, isCut = false } = {}) {
      const call = {
        id,
        account,
        signal,
        limitMs,
        text: { from: 0, length: MAX_TEXT },
        ...(query === undefined ? {} : { query }),
      };
      const head = copyHead(bytes);
      if (slow < MAX_SLOW) {
        const parsed = await parser.parse(bytes, call).catch(hear);
        signal.throwIfAborted();
        if (parsed !== undefined) {
          if (isCut && parsed.message.textLength === 0) notShown.push({ where: id, why: LATE });
          return parsed.matches ? parsed.message : undefined;
        }
      }
      const parsed = await parser.parse(head, call).catch(() => undefined);
      signal.throwIfAborted();
      notShown.push({ where: id, why: parsed === undefined ? UNREADABLE : HEADERS_ONLY });
      return parsed?.matches ? parsed.message : undefined;
    },
  };
}

/** The headers alone; the bytes of the message change threads. */
function copyHead(bytes: Buffer): Buffer {
  const ends = ["\r\n\r\n", "\n\n"].map((end) => bytes.indexOf(end)).filter((end) => end >= 0);
  return Buffer.from(bytes.subarray(0, Math.min(MAX_HEAD, bytes.length, ...ends)));
}
