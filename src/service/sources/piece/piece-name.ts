import { SvcError } from "../../../errors.ts";

const FORM = "small letters, digits and hyphens, such as notion or google-sheets";
const LIST = "Pieces are listed at https://www.activepieces.com/pieces.";

/** The package that a name stands for, and the name without what all pieces share. */
export interface PieceName {
  readonly package: string;
  readonly piece: string;
}

/**
 * `notion` stands for `@activepieces/piece-notion`; a name with a scope stands for itself.
 *
 * @throws SvcError `invalid_config`, field `piece`, saying which form a name has.
 */
export function readPieceName(given: string): PieceName {
  if (/^[a-z0-9][a-z0-9-]{0,80}$/.test(given)) {
    const piece = given.replace(/^piece-(?=.)/, "");
    return { package: `@activepieces/piece-${piece}`, piece };
  }
  const [, own] = /^@[a-z0-9][\w.-]{0,80}\/([a-z0-9][\w.-]{0,80})$/.exec(given) ?? [];
  if (own !== undefined) return { package: given, piece: own.replace(/^piece-/, "") };
  const close = given
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, " ")
    .trim()
    .replaceAll(" ", "-");
  const guess = /^[a-z]+(?:[ _-][a-z0-9]+)*$/i.test(given) ? `Did you mean "${close}"? ` : "";
  throw new SvcError("invalid_config", `"${given}" cannot be the name of a piece.`, {
    field: "piece",
    hint: `${guess}Such a name has ${FORM}, or is a whole package name, such as @someone/piece-shop. ${LIST}`,
  });
}
