import { ServiceError } from "../service-error.ts";

/** What the owner pressed on an approval form; throws ServiceError 400 when the form does not say. */
export function readDecision(form: URLSearchParams): "approve" | "decline" {
  const decision = form.get("decision");
  if (decision === "approve" || decision === "decline") return decision;
  throw new ServiceError(400, "no_decision", "The form did not say whether to approve or decline. Go back and choose.");
}
