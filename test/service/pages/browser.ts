import { call, type Reply } from "../http-calls.ts";

/** A browser without scripts: keeps cookies, follows no redirect by itself. */
export interface Browser {
  open(url: string, headers?: Record<string, string>): Promise<Reply>;
  submit(url: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Reply>;
  readonly cookies: Map<string, string>;
}

/** Opens a browser that knows nothing. */
export function openBrowser(): Browser {
  const cookies = new Map<string, string>();
  async function send(url: string, o: Parameters<typeof call>[1] = {}): Promise<Reply> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await call(url, { ...o, headers: { accept: "text/html", ...(cookie && { cookie }), ...o.headers } });
    for (const line of [reply.headers["set-cookie"] ?? []].flat()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return reply;
  }
  return {
    cookies,
    open: (url, headers = {}) => send(url, { headers }),
    submit: (url, fields, headers = {}) =>
      send(url, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        body: new URLSearchParams(fields).toString(),
      }),
  };
}

/** The CSRF token of a page. */
export function readCsrf(page: Reply): string {
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1];
  if (csrf === undefined) throw new Error("The page has no form of a signed-in browser.");
  return csrf;
}
