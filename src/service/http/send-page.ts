import type { Context } from "hono";
import { type Page, renderPage } from "../pages/page.ts";
import { PAGE_HEADERS } from "../pages/style.ts";
import type { RouteEnv } from "./guard.ts";

/** Answers with a page and the full set of page headers; `status` defaults to 200. */
export async function sendPage(c: Context<RouteEnv>, page: Page & { readonly status?: PageStatus }): Promise<Response> {
  return c.body(await renderPage(page), page.status ?? 200, { ...PAGE_HEADERS });
}

/** Statuses of pages. */
export type PageStatus = 200 | 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 500;
