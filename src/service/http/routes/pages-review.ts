import type { Context, Hono } from "hono";
import { reviewBody } from "../../pages/review-page.ts";
import { ServiceError } from "../../service-error.ts";
import type { IntegrationSource } from "../../sources/source.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

const CHANGED_AGAIN = "The app changed again meanwhile. Nothing was decided: these are the changes now.";

/** The page on which the owner agrees to changed actions of an added app, or does not. */
export function addReviewPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const show = (
    c: Context<RouteEnv>,
    source: IntegrationSource,
    o: { readonly csrfToken: string; readonly problem?: string },
  ) => {
    const page = { title: `Changes of ${source.name}`, csrfToken: o.csrfToken, section: "connections" } as const;
    return sendPage(c, {
      ...page,
      body: reviewBody({ source, ...o, now: parts.now() }),
      status: o.problem === undefined ? 200 : 409,
    });
  };

  app.get("/apps/:slug/review", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    return show(c, await requireSource(parts, c.req.param("slug")), owner);
  });

  for (const [decision, notice] of [
    ["accept", "accepted"],
    ["dismiss", "dismissed"],
  ] as const) {
    app.post(`/apps/:slug/${decision}`, async (c) => {
      const { owner, form } = await readOwnForm(c, parts);
      const { slug } = await requireSource(parts, c.req.param("slug"));
      if (await parts.sources[decision](slug, form.get("digest") ?? "")) {
        return c.redirect(`/connections?notice=${notice}`, 303);
      }
      const source = await requireSource(parts, slug);
      return show(c, source, { csrfToken: owner.csrfToken, problem: CHANGED_AGAIN });
    });
  }
}

async function requireSource({ sources }: ServiceParts, slug: string): Promise<IntegrationSource> {
  const source = await sources.find(slug);
  if (source !== undefined) return source;
  throw new ServiceError(
    404,
    "integration_not_found",
    "No app of this name was added. The connections page lists all.",
  );
}
