import type { HostConfig } from "./host-api.ts";

/** A source of credentials in the host's own sign-in screens. */
export interface HostProvider {
  readonly id: string;
  readonly label: string;
  readonly envVars?: string[];
  readonly auth: HostAuthMethod[];
}

/** One way to sign in. */
export interface HostAuthMethod {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly kind: "oauth" | "api_key" | "token" | "device_code" | "custom";
  run(context: HostAuthContext): Promise<HostAuthResult>;
  /** Without a human: answers the changed configuration, or null after a refusal it has told. */
  runNonInteractive?(context: HostUnattendedAuthContext): Promise<HostConfig | null>;
}

/** What a sign-in gets. */
export interface HostAuthContext {
  readonly config: HostConfig;
  readonly agentDir?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True in chat and in the host's web pages, where nothing can be asked. Left out on the command line. */
  readonly credentialOnly?: boolean | undefined;
  /** Throws when whoever started this may not go on. */
  assertCurrent?(): void;
  openUrl(url: string): Promise<void>;
  readonly prompter: HostPrompter;
}

/** What a sign-in without a human gets. */
export interface HostUnattendedAuthContext {
  readonly config: HostConfig;
  readonly agentDir?: string | undefined;
  readonly runtime: { log(message: string): void; error(message: string): void };
  resolveApiKey(place: {
    readonly provider: string;
    readonly flagName: `--${string}`;
    readonly envVar: string;
  }): Promise<{ readonly key: string; readonly source: "profile" | "env" | "flag" } | null>;
}

/** The host's questions and notes in a sign-in. */
interface HostPrompter {
  note(message: string, title?: string): Promise<void>;
  /** Shows a code to compare, where the client has a place for it. */
  deviceCode?(code: {
    readonly title: string;
    readonly code: string;
    readonly expiresInMinutes?: number;
    readonly message?: string;
  }): Promise<void>;
  text(question: {
    readonly message: string;
    readonly initialValue?: string;
    /** Answers what is wrong, or undefined. */
    validate?(value: string): string | undefined;
  }): Promise<string>;
  progress(label: string): { update(message: string): void; stop(message?: string): void };
}

/** What a sign-in leaves: the host stores the profiles. */
export interface HostAuthResult {
  readonly profiles: {
    readonly profileId: string;
    readonly credential: {
      readonly type: "api_key";
      readonly provider: string;
      readonly key: string;
      /** Kept with the key; no secrets. */
      readonly metadata?: Readonly<Record<string, string>>;
    };
  }[];
  readonly notes?: string[];
}

/** Id of the plugin's provider in the host's credential store. */
export const PROVIDER_ID = "svc";

/** Name of the key in that store. */
export const PROFILE_ID = "svc:default";

/** Method of the gateway by which `openclaw svc` reaches what only the running gateway knows. */
export const COMMAND_METHOD = "svc.command";
