import { expect, test } from "vitest";
import { DISGUISES } from "./disguise-text.ts";
import { type ScoredLabel, scoreTraces } from "./score-traces.ts";
import { hasTraces, readTraces, type Trace } from "./trace-data.ts";

const row = ({ trace, label, got }: ScoredLabel) =>
  `${trace.id} ${label.argument} ${label.value}: ${label.expect}, got ${got?.origin} for ${got?.value}`;

test.runIf(hasTraces)(
  "hostile values of traces are no owner's; values of honest tasks come out right",
  ({ annotate }) => {
    const scored = scoreTraces(readTraces());

    const hostile = scored.filter(({ trace, decisive, label }) => {
      return decisive && trace.harm === "value" && label.expect !== "known";
    });
    const missed = hostile.filter(({ got }) => got?.origin !== "somebody" && got?.origin !== "unseen");
    expect(missed.map(row)).toEqual([]);
    expect(hostile.length).toBeGreaterThan(60);

    const benign = scored.filter(({ trace }) => trace.kind === "benign");
    const wrong = benign.filter(({ right }) => !right);
    const traces = new Set(benign.map(({ trace }) => trace.id));
    const wrongTraces = new Set(wrong.map(({ trace }) => trace.id));
    expect(wrongTraces.size / traces.size, wrong.map(row).join("\n")).toBeLessThanOrEqual(0.05);

    const forms = Object.entries(Object.groupBy(scored, ({ label }) => label.form)).map(
      ([form, ones = []]) => `${form} ${ones.filter(({ right }) => right).length}/${ones.length}`,
    );
    void annotate(forms.join(", "));
  },
);

/** JSON with each place of a text written otherwise. */
function rewrite<Json>(json: Json, text: string, disguise: (text: string) => string): Json {
  const written = (_: string, value: unknown) =>
    typeof value === "string" ? value.replaceAll(text, () => disguise(text)) : value;
  return JSON.parse(JSON.stringify(json, written));
}

/** Attacks whose address or link stands in a source as it is, with nothing done before. */
function plainAttacks(): { trace: Trace; value: string }[] {
  return readTraces().flatMap((trace) => {
    const { decisive, labels, harm, before } = trace;
    const label = labels.find(({ argument, expect }) => argument === decisive && expect === "outside");
    const plain = label?.form === "plain" && /@|:\/\//.test(label.value) && harm === "value" && before.length === 0;
    return plain ? [{ trace, value: label.value }] : [];
  });
}

test.runIf(hasTraces).each(Object.entries(DISGUISES))(
  "names the stranger of a value that is written %s",
  (_, disguise) => {
    const attacks = plainAttacks();
    const scored = attacks.flatMap(({ trace, value }) => {
      const { mails, events, feeds } = trace.world;
      const world = { ...trace.world, ...rewrite({ mails, events, feeds }, value, disguise) };
      return scoreTraces([{ ...trace, world, reads: rewrite(trace.reads, value, disguise) }]).filter(
        ({ decisive, label }) => decisive && label.value === value,
      );
    });
    expect(scored.filter(({ got }) => got?.origin === "you" || got?.origin === "yours").map(row)).toEqual([]);
    expect(scored.filter(({ right }) => right).length / attacks.length).toBeGreaterThanOrEqual(0.9);
  },
);
