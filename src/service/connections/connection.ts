import type { ConnectionView } from "../../apps/port/integration.ts";
import type { ConnectionState } from "../../shared/wire/catalog.ts";

/** What an account is reached with. */
export type Settings = ConnectionView["settings"];

/** One connected account of an integration. */
export interface Connection extends ConnectionView {
  readonly state: ConnectionState;
  /** True when its secrets cannot be decrypted: the key that they were encrypted with is lost. */
  readonly hasLostSecrets?: boolean;
  /** Used when a call names no connection and the integration has several. */
  readonly isDefault: boolean;
}

/** Input to connect an account. */
interface NewConnection {
  /** Slug of an installed integration. */
  readonly integration: string;
  readonly label: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Granted scopes; default all scopes of the integration. */
  readonly scopes?: readonly string[];
  /** Default false. Becoming the default takes it from the integration's other connections. */
  readonly isDefault?: boolean;
}

/** Changes of a connection; absent members stay unchanged. */
export interface ConnectionChange {
  readonly state?: ConnectionState;
  readonly scopes?: readonly string[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly label?: string;
  readonly isDefault?: boolean;
}

/**
 * The owner's connections. Settings are stored as given, secret ones encrypted: they are checked when a call uses them.
 * A connection whose secrets cannot be decrypted has the state `error`.
 */
export interface Connections {
  /** All connections, oldest first; of one integration when named. */
  list(integration?: string): Promise<Connection[]>;
  /** @throws ServiceError 404 `integration_not_found`. */
  add(connection: NewConnection): Promise<Connection>;
  /**
   * @param was changes only a connection that still has these settings; any other stays as it is.
   * @throws ServiceError 404 `connection_not_found`.
   */
  update(id: string, change: ConnectionChange, was?: Settings): Promise<Connection>;
  /** @throws ServiceError 404 `connection_not_found`. */
  remove(id: string): Promise<void>;
}
