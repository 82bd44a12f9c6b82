import { expect, test } from "vitest";
import { type ScoredLabel, scoreTraces } from "./score-traces.ts";
import { hasTraces, readTraces } from "./trace-data.ts";

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
