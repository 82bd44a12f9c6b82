import type { Hono } from "hono";
import { INGEST_PATH } from "../../../wire/file.ts";
import { receiveIngest } from "../../files/receive-ingest.ts";
import type { RouteEnv } from "../guard.ts";
import { openBody } from "../incoming-body.ts";
import type { ServiceParts } from "../service-parts.ts";

/** "File ingest": authenticated by the single-use token of a hint, never by an API key. */
export function addIngestRoute(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post(INGEST_PATH, async (c) => {
    const { bytes, contentLength, clientGone } = openBody(c.env);
    const receipt = await receiveIngest(
      {
        authorization: c.req.header("authorization"),
        contentType: c.req.header("content-type"),
        contentLength,
        fileName: c.req.header("x-file-name"),
        bytes,
        signal: clientGone,
      },
      { tokens: parts.ingestTokens, blobs: parts.blobs },
    );
    return c.json(receipt, 201);
  });
}
