import type { Hono } from "hono";
import { INGEST_PATH } from "../../../shared/wire/file.ts";
import { receiveIngest } from "../../files/receive-ingest.ts";
import { bare, type Operation } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { openBody, type RouteEnv, watchClient } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";

/** OpenAPI description of these endpoints. */
export const ingestOperations: readonly Operation[] = [
  {
    method: "post",
    path: INGEST_PATH,
    summary: "Takes the bytes of one file, raw or as one multipart part, for the token of a hint.",
    tag: "Files",
    access: "ingest",
    parameters: [{ name: "x-file-name", in: "header", description: "Name of a raw file, percent-encoded." }],
    request: { required: true, content: { "application/octet-stream": "binary", "multipart/form-data": "binary" } },
    answers: {
      201: { description: "The file is stored; put its s3key into the call", body: shapes.IngestReceipt },
      400: bare("Empty, or not exactly one file part"),
      401: bare("The token is wrong, expired or spent"),
      413: bare("The file is larger than 25 MB"),
      503: bare("Ingest is not configured on this service"),
    },
  },
];

/** "File ingest": authenticated by the single-use token of a hint, never by an API key. */
export function addIngestRoute(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post(INGEST_PATH, async (c) => {
    const { bytes, contentLength } = openBody(c.env);
    const receipt = await receiveIngest(
      {
        authorization: c.req.header("authorization"),
        contentType: c.req.header("content-type"),
        contentLength,
        fileName: c.req.header("x-file-name"),
        bytes,
        signal: watchClient(c.env),
      },
      { tokens: parts.ingestTokens, blobs: parts.blobs },
    );
    return sendJson(receipt, 201);
  });
}
