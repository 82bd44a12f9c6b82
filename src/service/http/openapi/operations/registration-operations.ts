import { z } from "zod";
import { pairExchangeRequestSchema, pairStartRequestSchema } from "../../../../wire/registration.ts";
import type { Operation } from "../operation.ts";
import { shapes } from "../shapes.ts";
import { bare, segment } from "./answers.ts";

const REGISTRATION = { tag: "Registration", access: "anybody" } as const;
const TOKEN = segment("token", "The sessionToken of pair start.");
const TOO_LARGE = bare("The body is larger than 16 kB");
const JSON_TYPE = "application/json";

/** "Registration": pairing and installer bootstrap. A human approves on a page; none of these needs a key. */
export const registrationOperations: readonly Operation[] = [
  {
    ...REGISTRATION,
    method: "post",
    path: "/api/plugin/pair/start",
    summary: "Starts a pairing session.",
    request: { required: false, content: { [JSON_TYPE]: pairStartRequestSchema } },
    answers: {
      200: { description: "What the human opens, and what the device keeps", body: shapes.PairStarted },
      413: TOO_LARGE,
    },
  },
  {
    ...REGISTRATION,
    method: "get",
    path: "/api/plugin/pair/sessions/{token}",
    summary: "Reads where a pairing session stands.",
    parameters: [TOKEN],
    answers: { 200: { description: "Its status", body: shapes.PairStatus }, 404: bare("No such session") },
  },
  {
    ...REGISTRATION,
    method: "post",
    path: "/api/plugin/pair/sessions/{token}/exchange",
    summary: "Exchanges an approved session for its key, once.",
    parameters: [TOKEN],
    request: { required: true, content: { [JSON_TYPE]: pairExchangeRequestSchema } },
    answers: {
      200: { description: "The key, shown only this once", body: shapes.PairExchanged },
      400: bare("The verifier is missing or wrong"),
      404: bare("No such session"),
      409: bare("Not approved yet, denied, or already exchanged"),
      410: bare("Expired"),
      413: TOO_LARGE,
    },
  },
  {
    ...REGISTRATION,
    method: "post",
    path: "/api/installer/bootstrap-sessions",
    summary: "Starts an installer session.",
    request: { required: false, content: { [JSON_TYPE]: z.looseObject({}) } },
    answers: {
      200: { description: "What the human opens, and where to poll", body: shapes.BootstrapStarted },
      413: TOO_LARGE,
    },
  },
  {
    ...REGISTRATION,
    method: "get",
    path: "/api/installer/bootstrap-sessions/{token}",
    summary: "Polls an installer session; the configuration is handed out once after approval.",
    parameters: [segment("token", "The end of poll_url.")],
    answers: { 200: { description: "Its status", body: shapes.BootstrapPolled }, 404: bare("No such session") },
  },
];
