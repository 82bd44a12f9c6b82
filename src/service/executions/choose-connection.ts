import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { Connection } from "../connections/connection.ts";
import { findDefaultConnection } from "../connections/connections.ts";
import { ServiceError } from "../service-error.ts";

/**
 * Picks the connection of a call: the named one, else the only one, else the default.
 *
 * @throws ServiceError 409 `needs_connection`, `ambiguous_connection` or `unknown_connection`; the last two list ids and labels.
 */
export function chooseConnection(
  entry: CatalogEntry,
  connections: readonly Connection[],
  wanted: string | undefined,
): Connection {
  const { name } = entry.integration;
  if (connections.length === 0) {
    throw new ServiceError(409, "needs_connection", `${name} is not connected.`, {
      type: "auth",
      hint: `Connect ${name} first, then send the same call again.`,
    });
  }
  const named = wanted === undefined ? undefined : connections.find((connection) => connection.id === wanted);
  const chosen = wanted === undefined ? findDefaultConnection(connections) : named;
  if (chosen !== undefined) return chosen;
  const listing = {
    type: "validation",
    details: connections.map(({ id, label }) => `${id}: ${label}`),
    hint: "Ask which account to use and send its id as `connectionId`.",
    extra: { connections: connections.map(({ id, label, isDefault, state }) => ({ id, label, isDefault, state })) },
  };
  if (wanted !== undefined) {
    throw new ServiceError(409, "unknown_connection", `${name} has no connection with the id "${wanted}".`, listing);
  }
  const message = `${name} has ${connections.length} connections and none is the default.`;
  throw new ServiceError(409, "ambiguous_connection", message, listing);
}

/**
 * Refuses a connection that cannot carry the call.
 *
 * @throws ServiceError 401 `needs_reauth`, 403 `needs_scope_upgrade` with the missing scopes as `details`, 422 `integration_misconfigured`.
 */
export function checkConnection(entry: CatalogEntry, connection: Connection): void {
  const { name } = entry.integration;
  if (connection.state === "reauth_required") {
    throw new ServiceError(401, "needs_reauth", `"${connection.label}" (${name}) must be signed in to again.`, {
      type: "auth",
      hint: `Reconnect ${name}, then send the same call again.`,
    });
  }
  const missing = entry.action.scopes.filter((scope) => !connection.scopes.includes(scope));
  if (missing.length > 0) {
    const message = `"${connection.label}" (${name}) has not granted: ${missing.join(", ")}.`;
    throw new ServiceError(403, "needs_scope_upgrade", message, {
      type: "missing_scopes",
      details: missing,
      hint: `Reconnect ${name} and grant the missing permissions.`,
      extra: { missingScopes: missing },
    });
  }
  if (connection.hasLostSecrets) throw refuseLostSecrets(connection.label, name);
  if (connection.state === "error") {
    throw new ServiceError(
      422,
      "integration_misconfigured",
      `"${connection.label}" (${name}) does not work at the moment.`,
      {
        type: "configuration",
        hint: "It may only be down: try again in a minute. If it stays so, its owner has to look at the settings of this connection.",
      },
    );
  }
}

function refuseLostSecrets(label: string, name: string): ServiceError {
  const why = "the key that its password or token was encrypted with is lost";
  return new ServiceError(422, "integration_misconfigured", `"${label}" (${name}) cannot be used: ${why}.`, {
    type: "configuration",
    hint: `Trying again does not help. The owner of the service has to restore its key file from a backup, or connect ${name} again.`,
  });
}
