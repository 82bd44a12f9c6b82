import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "../../service/service-error.ts";
import { createAddedIntegration, toDoneAlready } from "../port/create-added-integration.ts";
import type { ActionContext, ConnectionView, Integration } from "../port/integration.ts";
import type { IntegrationSource, OpenSource, SourceKind, SourcePorts } from "../port/source.ts";
import { compareContents, findMissingSetting, type SourceContent, type StoredAction } from "../port/source-content.ts";
import { ACCESS_TOKEN, connectMcp, type McpDefinition, type McpSession, readMcpDefinition } from "./connect-mcp.ts";
import { createMcpError, isRefusal, isUnknownSession } from "./mcp-failure.ts";
import { McpLink } from "./mcp-link.ts";
import { mcpResultSchema, readMcpResult } from "./read-mcp-result.ts";
import { mcpCallSchema, readMcpTools } from "./read-mcp-tools.ts";

/** Calls under way get this long when the service stops. */
const GRACE_MS = 5_000;
/** The caller's signal ends a request sooner. */
const REQUEST_MS = 10 * 60_000;
/** How often connections are checked, to end servers that were disconnected. */
const LOOK_MS = 5_000;

interface HeldLink {
  readonly link: McpLink;
  readonly settings: ConnectionView["settings"];
  /** Actions whose definition differs from the version the owner agreed to; filled at each opening. */
  changed: ReadonlySet<string>;
}

/** MCP servers, started or reached: one session for each connection, restarted when it breaks. */
export const mcpKind: SourceKind = {
  async open(source, ports) {
    return new McpSource(source, readMcpDefinition(source.definition), ports).start();
  },
};

/** The server answered that it does not know this session. */
class ForgottenSession extends Error {
  readonly session: McpSession;

  constructor(session: McpSession, cause: unknown) {
    super("The server has forgotten the session.", { cause });
    this.session = session;
  }
}

interface StoredCall {
  readonly action: StoredAction;
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: ActionContext;
}

class McpSource {
  readonly #source: IntegrationSource;
  readonly #definition: McpDefinition;
  readonly #ports: SourcePorts;
  readonly #links = new Map<string, HeldLink>();
  /** Links that are no longer reachable and still ending. */
  readonly #ending = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(source: IntegrationSource, definition: McpDefinition, ports: SourcePorts) {
    this.#source = source;
    this.#definition = definition;
    this.#ports = ports;
  }

  start(): OpenSource {
    // A server that was down when the service stopped is looked for again.
    setTimeout(() => void this.#recoverAll().catch(() => {}), 0).unref();
    this.#timer = setInterval(() => void this.#lookAtConnections().catch(() => {}), LOOK_MS).unref();
    return {
      integration: {
        ...createAddedIntegration(this.#source, (action, args, context) => this.#run({ action, args, context })),
        ...this.#describeSignIn(),
      },
      close: async () => {
        clearInterval(this.#timer);
        for (const { link } of this.#links.values()) this.#end(link);
        await Promise.all(this.#ending);
      },
    };
  }

  /** For a server whose users sign in: where, and the look at its tools that follows. */
  #describeSignIn(): Pick<Integration, "findSignIn" | "testSettings"> {
    const definition = this.#definition;
    if (definition.transport !== "http" || definition.signIn === undefined) return {};
    const { flow, scopes, resourceMetadata } = definition.signIn;
    const resource = new URL(definition.url);
    resource.hash = "";
    const provider = { resource: resource.href, ...(resourceMetadata !== undefined && { resourceMetadata }) };
    return {
      findSignIn: (settings) => ({
        provider,
        flow,
        scopes,
        isPrivate: definition.isPrivate,
        useToken: ({ text }) => ({ ...settings, [ACCESS_TOKEN]: text }),
      }),
      testSettings: (settings, signal) => this.#list(settings, signal),
    };
  }

  /** Proposes to the owner what the server offers with these settings. Throws ServiceError. */
  async #list(settings: ConnectionView["settings"], signal: AbortSignal): Promise<void> {
    const { slug, name } = this.#source;
    let session: McpSession | undefined;
    try {
      session = await connectMcp(this.#definition, settings, { signal });
      const { content } = await readMcpTools(session.client, { slug, name, definition: this.#definition }, signal);
      await this.#ports.propose(slug, content);
    } catch (error) {
      throw createMcpError(error, { app: name, action: { level: "read", idempotent: true }, settings });
    } finally {
      await session?.close();
    }
  }

  async #recoverAll(): Promise<void> {
    for (const connection of await this.#ports.listConnections(this.#source.slug)) {
      const isReady = findMissingSetting(this.#source.content, connection.settings) === undefined;
      if (connection.state === "error" && isReady) this.#hold(connection).link.recover();
    }
  }

  /**
   * Ends servers whose connection is gone or has other settings. What this process can reach is well, whatever another
   * one says that shares the store: it may lack the command that starts the server.
   */
  async #lookAtConnections(): Promise<void> {
    // Made before the look: a later one has settings that the look may not know.
    const links = [...this.#links];
    if (links.length === 0) return;
    const connections = new Map((await this.#ports.listConnections(this.#source.slug)).map((one) => [one.id, one]));
    for (const [id, held] of links) {
      const { link, settings } = held;
      const connection = connections.get(id);
      if (connection === undefined || (!link.isBusy && !isDeepStrictEqual(connection.settings, settings))) {
        if (this.#links.get(id) === held) this.#links.delete(id);
        this.#end(link);
      } else if (link.isOpen && connection.state === "error") {
        await this.#ports.setConnectionState({ id, settings }, "healthy");
      }
    }
  }

  async #run(call: StoredCall): Promise<unknown> {
    const { action, context } = call;
    const { [ACCESS_TOKEN]: _, ...settings } = context.connection.settings;
    const held = this.#hold({ ...context.connection, settings });
    const attempt = () => held.link.use((session) => this.#call(held, session, call));
    try {
      // A server that has forgotten the session has done nothing.
      return await attempt().catch((error: unknown) => {
        if (!(error instanceof ForgottenSession)) throw error;
        held.link.drop(error.session);
        return attempt();
      });
    } catch (error) {
      if (context.signal.aborted) throw error;
      const cause = error instanceof ForgottenSession ? error.cause : error;
      throw createMcpError(cause, { app: this.#source.name, action, settings });
    }
  }

  async #call(held: HeldLink, session: McpSession, { action, args, context }: StoredCall): Promise<unknown> {
    // Looked at only now: opening the session is what finds a change.
    if (held.changed.has(action.id)) throw this.#refuseChanged(action);
    const { tool } = mcpCallSchema.parse(action.call);
    const options = { signal: context.signal, timeout: REQUEST_MS };
    const params = { name: tool, arguments: { ...args } };
    // By a schema of our own: the SDK's refuses a whole answer for one part that it does not know.
    const result = await session.client
      .request({ method: "tools/call", params }, mcpResultSchema, options)
      .catch((error: unknown) => {
        throw session.hasSession && isUnknownSession(error) ? new ForgottenSession(session, error) : error;
      });
    if (result.isError === true) return readMcpResult(result, context);
    return readMcpResult(result, context).catch((error: unknown) => {
      throw toDoneAlready(error, { app: this.#source.name, action });
    });
  }

  #refuseChanged({ title }: StoredAction): ServiceError {
    const { slug, name } = this.#source;
    return new ServiceError(
      422,
      "integration_misconfigured",
      `${name} has changed "${title}" since its owner agreed to it.`,
      {
        type: "configuration",
        hint: `The owner looks at the change and agrees to it with "svc review ${slug}".`,
      },
    );
  }

  /** One link for each connection; other settings make another one. */
  #hold({ id, settings }: Pick<ConnectionView, "id" | "settings">): HeldLink {
    const known = this.#links.get(id);
    if (known !== undefined && isDeepStrictEqual(known.settings, settings)) return known;
    if (known !== undefined) this.#end(known.link);
    const held: HeldLink = {
      settings,
      changed: new Set(),
      link: new McpLink(this.#definition, settings, {
        onOpen: async (session, signal) => {
          await this.#compare(held, session, signal);
          await this.#restoreState({ id, settings });
        },
        readLive: async () => (await this.#ports.provide(this.#describeApp(), settings)).settings,
        onToolsChanged: (session) => void this.#compare(held, session).catch(() => {}),
        onDown: (cause) => {
          const isRefused = isRefusal(cause);
          const message = isRefused ? "refuses its credentials" : "cannot be started or reached; it is tried again";
          this.#ports.log({ level: "warn", message: `The MCP server of "${this.#source.slug}" ${message}.`, cause });
          void this.#ports.setConnectionState({ id, settings }, isRefused ? "reauth_required" : "error");
        },
      }),
    };
    this.#links.set(id, held);
    return held;
  }

  #describeApp() {
    const { slug, name } = this.#source;
    return { slug, name, ...this.#describeSignIn() };
  }

  #end(link: McpLink): void {
    const ending = link.close(GRACE_MS).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #restoreState(own: Pick<ConnectionView, "id" | "settings">): Promise<void> {
    const connections = await this.#ports.listConnections(this.#source.slug);
    if (connections.find(({ id }) => id === own.id)?.state !== "error") return;
    await this.#ports.setConnectionState(own, "healthy");
  }

  /** Actions the owner agreed to stay in use; changed ones are proposed to the owner, and not run meanwhile. */
  async #compare(held: HeldLink, { client }: McpSession, signal?: AbortSignal): Promise<void> {
    const place = { slug: this.#source.slug, name: this.#source.name, definition: this.#definition };
    const { content } = await readMcpTools(client, place, signal);
    held.changed = findChanged(this.#source.content, content);
    await this.#ports.propose(this.#source.slug, content);
  }
}

function findChanged(agreed: SourceContent, found: SourceContent): ReadonlySet<string> {
  return new Set(compareContents(agreed, found).changed.map(({ id }) => id));
}
