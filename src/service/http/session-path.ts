import { createHash } from "node:crypto";
import { deriveToken } from "../auth/secrets.ts";

/**
 * Over http a browser sends cookies to every port of their host. The pages of a signed-in browser are therefore below a
 * path that only this browser knows, and its cookie goes to that path alone: a page on another port cannot name it.
 */
export function toSessionPath(sessionSecret: string): string {
  return `/s/${deriveToken(sessionSecret, "path")}`;
}

/** The session path that a request was sent to; empty when it has none. */
export function readSessionPath(url: string): string {
  return SESSION_PATH.exec(new URL(url).pathname)?.[0] ?? "";
}

/** The first part of the path of a signed-in browser's pages, over http. */
export const SESSION_PATH = /^\/s\/[\w-]{43}(?=\/)/;

/**
 * State of a page for {@link SESSION_SCRIPT}: its browser is signed in, is signed out, or may be signed in at its
 * session path while this page has none.
 */
export type SessionMark = "open" | "ended" | "elsewhere";

/**
 * Keeps the session path in the storage of the origin, which other ports do not share, and takes a signed-in browser from
 * an address that programs give out to the same page at its session path.
 */
export const SESSION_SCRIPT = `
(() => {
  const name = "svc session path";
  const own = /^\\/s\\/[\\w-]{43}(?=\\/)/.exec(location.pathname)?.[0];
  const kept = localStorage.getItem(name);
  const mark = document.documentElement.dataset.session;
  if (mark === "open" && own) localStorage.setItem(name, own);
  if (mark === "ended" && own === kept) localStorage.removeItem(name);
  if (mark === "elsewhere" && !own && /^\\/s\\/[\\w-]{43}$/.test(kept)) location.replace(kept + location.pathname + location.search);
})();
`;

/** The source expression that lets this script run. */
export const SESSION_SCRIPT_SOURCE = `'sha256-${createHash("sha256").update(SESSION_SCRIPT).digest("base64")}'`;
