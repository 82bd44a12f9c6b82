import { isObject, type LoadedPiece, listAuths } from "./describe-piece.ts";

/** What a piece says against what it would sign in with; undefined when it says nothing, or does not check. */
export async function validateAuth(
  { piece }: LoadedPiece,
  { way, auth }: { readonly way: string; readonly auth: unknown },
): Promise<string | undefined> {
  const { validate } = listAuths(piece).find((one) => one.type === way) ?? {};
  if (typeof validate !== "function") return undefined;
  const answer: unknown = await validate({ auth: unwrap(auth), server: { apiUrl: "", publicUrl: "" } });
  if (!isObject(answer) || answer.valid !== false) return undefined;
  return typeof answer.error === "string" ? answer.error : "";
}

/** A check is given less than an action: the text or the fields alone. */
function unwrap(auth: unknown): unknown {
  if (!isObject(auth)) return auth;
  switch (auth.type) {
    case "SECRET_TEXT":
      return auth.secret_text;
    case "CUSTOM_AUTH":
      return auth.props;
    case "BASIC_AUTH":
      return { username: auth.username, password: auth.password };
    default:
      return auth;
  }
}
