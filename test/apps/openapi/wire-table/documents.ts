import type { WireRow } from "./rows.ts";

/** The document of one row, whose operation is `x_op`; `echo` is the address of the server. */
export function toDocument({ operation, older }: WireRow, version: string, echo: string) {
  const own = version === "2.0" ? older : operation;
  const parameters = (own?.parameters ?? []) as { in: string }[];
  const isInPath = parameters.some((parameter) => parameter.in === "path");
  const hasBody =
    own?.requestBody !== undefined || parameters.some(({ in: place }) => place === "body" || place === "formData");
  const given = { operationId: "x_op", responses: { 200: { description: "Done." } }, ...own };
  const info = { title: "Echo", version: "1" };
  const paths = { [isInPath ? "/p/{color}" : "/a"]: { [hasBody ? "post" : "get"]: given } };
  const { host, pathname } = new URL(echo);
  if (version === "2.0") return { swagger: "2.0", info, host, basePath: pathname, schemes: ["http"], paths };
  return { openapi: version, info, servers: [{ url: echo }], paths };
}
