import { openSignInStore } from "../../src/pairing/sign-in-store.ts";
import { createTokenSource } from "../../src/pairing/token-source.ts";

/** A process that needs a token when the stored one has expired by its clock; prints what it got. */

const [folder = "", ahead = "0"] = process.argv.slice(2);
const store = openSignInStore(folder);
const signIn = await store.read();
if (signIn === undefined) throw new Error("Nothing is stored.");
const source = createTokenSource({ store, signIn, now: () => Date.now() + Number(ahead) });
console.log("asking");
console.log(`got ${await source.getToken({})}`);
