import type { Hono } from "hono";
import { announcedFileSchema, previewRequestSchema } from "../../../shared/wire/preview.ts";
import { blockedOutcome } from "../../executions/outcome.ts";
import { readToolRequest } from "../../executions/read-requests.ts";
import { type AnnouncedFile, createFileLook } from "../../executions/resolve-files.ts";
import { ServiceError } from "../../service-error.ts";
import { bare, envelope, type Operation, RETRY_AFTER, segment } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { renderEnvelope } from "../render-outcome.ts";
import { type RouteEnv, readJsonObject, requireKey, watchClient } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";

/** As much as the execute endpoint takes besides file bytes. */
const BODY_LIMIT = 8 * 1024 * 1024;

/** OpenAPI description of this endpoint. */
export const previewOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/api/tools/{name}/preview",
    summary:
      "Says what a call would do to what is there now, by reads alone, in at most five seconds. Nothing is done.",
    tag: "Tools",
    access: "key",
    parameters: [segment("name", "Full tool name from a list or search.")],
    request: { required: true, content: { "application/json": previewRequestSchema } },
    answers: {
      200: { description: "What it would do", body: shapes.PreviewReply },
      400: envelope("The arguments are not valid"),
      401: envelope("The connection must be signed in to again"),
      402: envelope("The usage limit of the day is reached"),
      403: envelope("A rule of the owner forbids it, or the connection lacks scopes that the tool needs"),
      404: envelope("There is no such tool, what was asked for is not there, or the tool has no previews"),
      409: envelope("Not connected, or several connections and none chosen"),
      413: bare("The body is larger than 8 MB"),
      422: envelope("The integration or the connection is not set up correctly"),
      429: envelope("The provider limits the rate", RETRY_AFTER),
      500: envelope("It failed unexpectedly"),
      503: envelope("The provider is not available or took too long"),
    },
  },
];

/** What a call would do. Ours: not in the document. */
export function addPreviewRoute(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post("/api/tools/:name/preview", requireKey(parts), async (c) => {
    const principal = c.get("principal");
    const toolName = c.req.param("name");
    const clientGone = watchClient(c.env);
    const body = await readJsonObject(c.env, { limit: BODY_LIMIT });
    try {
      const files = createFileLook(parts, principal.accountId, readAnnounced(body.files));
      const call = { ...readToolRequest(body), toolName, principal, clientGone, ...files };
      const { preview, raised } = await parts.executor.preview(call);
      return sendJson({ preview, ...(raised !== undefined && { call_level: raised }) }, 200);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { catalog } = await parts.access.view(principal);
      const known = { toolName, entry: catalog.find(toolName) };
      return renderEnvelope(blockedOutcome(error, new Date(parts.now()).toISOString(), known));
    }
  });
}

/** Entries that cannot be read are left out: they are checked when the call runs. */
function readAnnounced(files: unknown): AnnouncedFile[] {
  if (!Array.isArray(files)) return [];
  return files.slice(0, 1000).flatMap((file) => announcedFileSchema.safeParse(file).data ?? []);
}
