import { z } from "zod";
import { parseJson } from "../../../shared/base/json.ts";
import type { PasskeyRow } from "../../store/schema.ts";

/** Where passkeys are used: the browser binds each to the name of the host, and tells the origin of the page. */
export interface PasskeySite {
  readonly origin: string;
  /** The host name, without a port. */
  readonly rpId: string;
}

/** EdDSA, ES256 and RS256, as COSE numbers them. */
export const ALGORITHMS = [-8, -7, -257];

const bytes = z
  .string()
  .regex(/^[\w-]+$/)
  .max(8192);
const credential = { id: bytes, rawId: bytes, type: z.literal("public-key") };

/** What a browser answers when it has made a passkey. Members that nobody reads are left out. */
export const creationSchema = z.object({
  ...credential,
  response: z.object({ clientDataJSON: bytes, attestationObject: bytes }),
});
type Creation = z.output<typeof creationSchema>;

/** What a browser answers when it uses a passkey. */
export const assertionSchema = z.object({
  ...credential,
  response: z.object({ clientDataJSON: bytes, authenticatorData: bytes, signature: bytes, userHandle: bytes }),
});
type Assertion = z.output<typeof assertionSchema>;

const clientDataSchema = z.object({ challenge: bytes });

/** The challenge that an answer is for, as it was made; empty when it names none. */
export function readChallenge({ response }: { readonly response: { readonly clientDataJSON: string } }): string {
  const data = clientDataSchema.safeParse(parseJson(decode(response.clientDataJSON)));
  return data.success ? decode(data.data.challenge) : "";
}

const decode = (text: string) => Buffer.from(text, "base64url").toString("utf8");
const encode = (text: string) => Buffer.from(text, "utf8").toString("base64url");

/** Id and public key of the new passkey; undefined for an answer that does not fit. `challenge` was checked before. */
export async function checkCreation(answer: Creation, { origin, rpId }: PasskeySite, challenge: string) {
  const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  const verify = async () => {
    // Statements of makers are not asked for. To check one, addresses that it names itself would be fetched.
    const statement = decodeAttestationObject(Buffer.from(answer.response.attestationObject, "base64url"));
    if (statement.get("fmt") !== "none") return undefined;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...answer, clientExtensionResults: {} },
      expectedChallenge: encode(challenge),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (registrationInfo === undefined) return undefined;
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey).toString("base64url"), counter: String(counter) };
  };
  // The library throws for every kind of answer that does not fit.
  return verify().catch(() => undefined);
}

/**
 * The counter of a passkey after this use of it; undefined for an answer that does not fit, also one whose counter has
 * not grown, as that of a copy. `challenge` was checked before.
 */
export async function checkAssertion(
  answer: Assertion,
  passkey: Pick<PasskeyRow, "credential_id" | "public_key" | "counter" | "person_id">,
  { site, challenge }: { site: PasskeySite; challenge: string },
): Promise<string | undefined> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  if (decode(answer.response.userHandle) !== passkey.person_id) return undefined;
  const verify = async () => {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...answer, clientExtensionResults: {} },
      expectedChallenge: encode(challenge),
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, "base64url")),
        counter: Number(passkey.counter),
      },
    });
    return verified ? String(authenticationInfo.newCounter) : undefined;
  };
  return verify().catch(() => undefined);
}
