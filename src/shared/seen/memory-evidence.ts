import { hash, randomBytes } from "node:crypto";
import { collectForms } from "./collect-forms.ts";
import type { AuthoredPart, Evidence, SeenSource } from "./evidence.ts";

/** Evidence that grows by what is noted. */
export interface GrowingEvidence extends Evidence {
  note(part: AuthoredPart): void;
}

/**
 * Creates evidence in memory: `limit` digests of forms under a key of its own, nothing readable but the sources. The oldest go
 * first; a form keeps the source that it was seen in first, or the first of the owner's own.
 */
export function createEvidence({ limit }: { readonly limit: number }): GrowingEvidence {
  const key = randomBytes(16).toString("hex");
  const sources = new Map<bigint, SeenSource>();
  return {
    note({ source, content }) {
      for (const form of collectForms(content)) {
        const digest = digestForm(key, form);
        const first = sources.get(digest);
        if (!first || (first.whose === "somebody" && source.whose === "yours")) sources.set(digest, source);
      }
      for (const oldest of sources.keys()) {
        if (sources.size <= limit) break;
        sources.delete(oldest);
      }
    },
    find: (form) => sources.get(digestForm(key, form)),
  };
}

/** The digest of a form under a key: 64 bits, signed as databases store them. */
function digestForm(key: string, form: string): bigint {
  return hash("sha256", `${key}\n${form}`, "buffer").readBigInt64BE(0);
}
