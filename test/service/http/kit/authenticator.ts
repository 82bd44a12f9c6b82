import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** What a browser is told about a passkey to make or use. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

/** What an answer says that a true one would say otherwise. */
export interface Lies {
  /** Origin of the page; default `http://` and the name of the host with the port. */
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  /** Bits of the authenticator: 1 a touch, 4 a check of the person. */
  readonly flags?: number;
  readonly counter?: number;
  readonly userHandle?: string;
  /** Any but `none` comes with a statement that the passkey signed itself. */
  readonly format?: string;
  readonly challenge?: string;
}

const PRESENT = 1;
const VERIFIED = 4;
const WITH_CREDENTIAL = 64;

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url");
const hash = (data: Uint8Array | string) => createHash("sha256").update(data).digest();

/** A passkey and the browser it is in, in a few lines: ES256, no statement of a maker. */
export function createAuthenticator(site: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomBytes(16);
  let userHandle = "";
  let counter = 0;

  function describe(rpId: string, lies: Lies, more: readonly Uint8Array[] = []): Buffer {
    const flags = (lies.flags ?? PRESENT | VERIFIED) | (more.length > 0 ? WITH_CREDENTIAL : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lies.counter ?? counter);
    return Buffer.concat([hash(lies.rpId ?? rpId), Buffer.of(flags), count, ...more]);
  }

  function describeClient(type: string, { challenge }: PasskeyOptions, lies: Lies): string {
    const said = { type: lies.type ?? type, challenge: lies.challenge ?? challenge, origin: lies.origin ?? site };
    return JSON.stringify(said);
  }

  const answer = (response: Record<string, string>) =>
    JSON.stringify({ id: base64url(id), rawId: base64url(id), type: "public-key", response });

  return {
    /** The answer to `navigator.credentials.create`. */
    create(options: PasskeyOptions, lies: Lies = {}): string {
      const client = describeClient("webauthn.create", options, lies);
      userHandle = options.user?.id ?? "";
      const { x = "", y = "" } = publicKey.export({ format: "jwk" });
      const [left, right] = [x, y].map((part) => Buffer.from(part, "base64url"));
      const key = Buffer.concat([hex("a5010203262001215820"), left ?? hex(""), hex("225820"), right ?? hex("")]);
      const data = describe(options.rp?.id ?? "", lies, [Buffer.alloc(16), Buffer.of(0, id.length), id, key]);
      const format = lies.format ?? "none";
      const proof = sign("sha256", Buffer.concat([data, hash(client)]), privateKey);
      const own = Buffer.concat([hex("a263616c672663736967"), Buffer.of(0x58, proof.length), proof]);
      const statement = Buffer.concat([
        Buffer.of(0xa3, 0x63),
        Buffer.from("fmt"),
        Buffer.of(0x60 + format.length),
        Buffer.from(format),
        Buffer.of(0x67),
        Buffer.from("attStmt"),
        format === "none" ? Buffer.of(0xa0) : own,
        Buffer.of(0x68),
        Buffer.from("authData"),
        Buffer.of(0x58, data.length),
        data,
      ]);
      return answer({ clientDataJSON: base64url(client), attestationObject: base64url(statement) });
    },

    /** The answer to `navigator.credentials.get`; each counts one use. */
    get(options: PasskeyOptions, lies: Lies = {}): string {
      counter += 1;
      const data = describe(options.rpId ?? "", lies);
      const client = describeClient("webauthn.get", options, lies);
      const signature = sign("sha256", Buffer.concat([data, hash(client)]), privateKey);
      return answer({
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
        userHandle: lies.userHandle ?? userHandle,
      });
    },
  };
}

const hex = (text: string) => Buffer.from(text, "hex");
