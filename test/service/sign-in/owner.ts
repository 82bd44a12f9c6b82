import type { TestService } from "../../../src/testing.ts";
import { type Browser, openBrowser, readCsrf } from "../http/pages/browser.ts";
import { followSignIn } from "./start-provider.ts";

/** The owner at the dashboard of a service. */
export interface Owner {
  readonly browser: Browser;
  /** Connects an app, or signs in again to a connection, by the provider's page; the address that it ends at. */
  signIn(path: string, fields?: Readonly<Record<string, string>>, client?: Client): Promise<string>;
  submit(path: string, fields: Readonly<Record<string, string>>): ReturnType<Browser["submit"]>;
}

type Client = Readonly<Record<"client-id" | "client-secret", string>>;

/** Signs the owner in to the dashboard. */
export async function openOwner(service: TestService): Promise<Owner> {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const submit: Owner["submit"] = async (path, fields) => {
    const csrf = readCsrf(await browser.open(`${service.url}/connections`));
    return browser.submit(`${service.url}${path}`, { csrf, ...fields });
  };
  return {
    browser,
    submit,
    async signIn(path, fields = {}, client) {
      const named = Object.entries(fields).map(([name, value]) => [`set.${name}`, value] as const);
      let page = await submit(path, { label: "", ...Object.fromEntries(named) });
      const [, state] = /name="state" value="([^"]+)"/.exec(page.text) ?? [];
      if (state !== undefined && client !== undefined) page = await submit("/sign-in/client", { state, ...client });
      const [, href] = /href="([^"]+)" rel="noreferrer"/.exec(page.text) ?? [];
      if (href === undefined) return String(page.headers.location ?? `no page: ${page.text}`);
      const back = await followSignIn(href.replaceAll("&amp;", "&"), `${service.url}/signed-in`);
      const end = await browser.open(back.href);
      return String(end.headers.location ?? `not signed in: ${end.text}`);
    },
  };
}
