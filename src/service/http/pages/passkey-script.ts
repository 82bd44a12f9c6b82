import { createHash } from "node:crypto";

/**
 * Lets the browser make or use a passkey when a form with `data-passkey` is sent: the service says what for, at the
 * address of the form and `/start`, and the answer goes into the field `answer`. Such forms are hidden until it runs.
 */
export const PASSKEY_SCRIPT = `
addEventListener("DOMContentLoaded", () => {
  const WHY = {
    NotAllowedError: "No passkey was given. Try again, and follow what this browser shows.",
    InvalidStateError: "This device has a passkey of yours already.",
    SecurityError: "This browser allows no passkeys at this address.",
    NotSupportedError: "This device cannot make a passkey that fits.",
  };
  const start = async (form) => {
    const reply = await fetch(form.action + "/start", {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams(new FormData(form)),
    });
    const said = await reply.json();
    if (!reply.ok) throw new Error(said.error);
    return said;
  };
  const answer = async (form) => {
    const options = await start(form);
    return form.dataset.passkey === "add"
      ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  };
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const say = (text) => { form.querySelector("[role=status]").textContent = text; };
    const button = form.querySelector("button");
    form.hidden = false;
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
      button.disabled = true;
      say("This browser is too old for passkeys here.");
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      button.disabled = true;
      say("");
      answer(form)
        .then((credential) => {
          form.elements.answer.value = JSON.stringify(credential);
          form.submit();
        })
        .catch((error) => say(WHY[error.name] ?? "That did not work: " + error.message))
        .finally(() => { button.disabled = false; });
    });
  }
});
`;

/** The source expression that lets this script run. */
export const PASSKEY_SCRIPT_SOURCE = `'sha256-${createHash("sha256").update(PASSKEY_SCRIPT).digest("base64")}'`;
