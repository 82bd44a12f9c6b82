import { call, type Reply } from "../../http-calls.ts";

/**
 * A browser that keeps cookies, each for its path, and follows no redirect by itself. It presses the button behind a
 * sign-in link, and goes to its session path as the script of the pages does; replies show addresses without that path.
 */
export interface Browser {
  open(url: string, headers?: Record<string, string>): Promise<Reply>;
  submit(
    url: string,
    fields: Record<string, string> | [string, string][],
    headers?: Record<string, string>,
  ): Promise<Reply>;
  readonly cookies: Map<string, string>;
  /** Empty before the sign-in, and over https. */
  sessionPath(): string;
}

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Opens a browser that knows nothing. */
export function openBrowser(): Browser {
  const cookies = new Map<string, string>();
  const paths = new Map<string, string>();
  let sessionPath = "";

  async function send(url: string, o: Parameters<typeof call>[1] = {}): Promise<Reply> {
    const { pathname } = new URL(url);
    const sent = [...cookies].filter(([name]) => pathname.startsWith(paths.get(name) ?? "/"));
    const cookie = sent.map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await call(url, { ...o, headers: { accept: "text/html", ...(cookie && { cookie }), ...o.headers } });
    for (const line of [reply.headers["set-cookie"] ?? []].flat()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      paths.set(name, /path=([^;]+)/i.exec(line)?.[1] ?? "/");
      if (/max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    sessionPath = /^\/s\/[\w-]{43}/.exec(String(reply.headers.location))?.[0] ?? sessionPath;
    return reply;
  }

  function inSession(url: string): string {
    const { origin, pathname, search } = new URL(url);
    return pathname.startsWith("/s/") ? url : `${origin}${sessionPath}${pathname}${search}`;
  }

  function showPlain(reply: Reply): Reply {
    const { location } = reply.headers;
    const plain = typeof location === "string" ? { location: location.replace(/^\/s\/[\w-]{43}/, "") } : {};
    return { ...reply, text: reply.text.replaceAll(/"\/s\/[\w-]{43}/g, '"'), headers: { ...reply.headers, ...plain } };
  }

  async function open(url: string, headers: Record<string, string> = {}): Promise<Reply> {
    const reply = await send(url, { headers });
    const token = /name="token" value="([^"]+)"/.exec(reply.text)?.[1];
    if (token !== undefined) {
      const next = /name="next" value="([^"]+)"/.exec(reply.text)?.[1];
      const signedIn = await send(url, {
        method: "POST",
        headers: { ...headers, ...FORM },
        body: new URLSearchParams({ token, ...(next !== undefined && { next }) }).toString(),
      });
      return showPlain(signedIn);
    }
    const hops = sessionPath !== "" && reply.text.includes('data-session="elsewhere"');
    return showPlain(hops ? await send(inSession(url), { headers }) : reply);
  }

  return {
    cookies,
    sessionPath: () => sessionPath,
    open,
    submit: async (url, fields, headers = {}) =>
      showPlain(
        await send(inSession(url), {
          method: "POST",
          headers: { ...FORM, ...headers },
          body: new URLSearchParams(fields).toString(),
        }),
      ),
  };
}

/** The CSRF token of a page. */
export function readCsrf(page: Reply): string {
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1];
  if (csrf === undefined) throw new Error("The page has no form of a signed-in browser.");
  return csrf;
}

/** Invites a person as the owner of this browser does; the link for them. */
export async function invite(owner: Browser, url: string, name: string, role = "approver"): Promise<string> {
  const csrf = readCsrf(await owner.open(`${url}/sessions`));
  return readInvitation(await owner.submit(`${url}/people`, { csrf, name, role }));
}

/** The link that a page shows for somebody; empty when it shows none. */
export function readInvitation({ text }: Reply): string {
  return /<code class="copy">([^<]+)/.exec(text)?.[1] ?? "";
}
