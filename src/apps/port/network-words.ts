/** What is wrong with a certificate, by the code of an error or the text of OpenSSL. */
const CERTIFICATES: readonly (readonly [fault: RegExp, problem: string])[] = [
  [
    /SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:VERIFY|GET_ISSUER)|self[- ]signed certificate in certificate chain|unable to (?:verify|get local issuer)/i,
    "is signed by an authority that is not known here",
  ],
  [/DEPTH_ZERO_SELF_SIGNED_CERT|self[- ]signed certificate/i, "is signed by itself"],
  [/CERT_HAS_EXPIRED|certificate has expired/i, "has expired"],
  [/CERT_NOT_YET_VALID/, "is not valid yet"],
  [/CERT_REVOKED/, "was revoked"],
  [/CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|altnames|hostname\/ip does not match/i, "belongs to another server name"],
];

/** The rest of a sentence that begins with "a certificate that"; undefined for a failure that is not about one. */
export function describeCertificate(failure: string): string | undefined {
  return CERTIFICATES.find(([fault]) => fault.test(failure))?.[1];
}

const NETWORK: readonly (readonly [fault: RegExp, words: string])[] = [
  [/\b(?:ENOTFOUND|ENODATA)\b/, "there is no server of this name."],
  [/\bEAI_AGAIN\b/, "its name cannot be looked up at the moment."],
  [/\bECONNREFUSED\b/, "nothing answers at this address and port."],
  [/\b(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)\b/, "it does not answer in time."],
  [/\b(?:EHOSTUNREACH|ENETUNREACH)\b/, "there is no way to it from the machine of the service."],
  [/\b(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)\b/, "it closed the connection."],
];

/** A code of the network, such as `getaddrinfo ENOTFOUND`, in words for people; any other text as it is. */
export function toNetworkWords(text: string): string {
  const known = NETWORK.find(([fault]) => fault.test(text))?.[1];
  if (known !== undefined) return known;
  const problem = describeCertificate(text);
  return problem === undefined ? text : `its certificate ${problem}.`;
}
