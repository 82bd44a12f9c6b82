/** One series, with its labels in the order of the text. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with everything that was said of it. */
interface Metric {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"/y;

/**
 * Reads the text format of Prometheus, version 0.0.4, strictly as its specification has it: one HELP and TYPE before the
 * samples of a metric, no series twice, histograms whose buckets add up.
 */
export function readMetrics(text: string): ReadonlyMap<string, Metric> {
  if (!text.endsWith("\n")) throw new Error("The last line does not end.");
  const metrics = new Map<string, Metric>();
  let help = "";
  let current = "";
  const seen = new Set<string>();
  for (const line of text.slice(0, -1).split("\n")) {
    const [, helped = "", words = ""] = new RegExp(`^# HELP (${NAME}) (.+)$`).exec(line) ?? [];
    const [, typed = "", type = ""] = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`).exec(line) ?? [];
    if (helped !== "") {
      if (metrics.has(helped)) throw new Error(`${helped} comes twice.`);
      [current, help] = [helped, words];
    } else if (typed !== "") {
      if (typed !== current) throw new Error(`${line} follows the help of ${current}.`);
      metrics.set(typed, { type, help, samples: [] });
    } else {
      const sample = readSample(line);
      const metric = metrics.get(current);
      const names =
        metric?.type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => `${current}${end}`) : [current];
      if (metric === undefined || !names.includes(sample.name))
        throw new Error(`${line} does not belong to ${current}.`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(key)) throw new Error(`${line} comes twice.`);
      seen.add(key);
      metric.samples.push(sample);
    }
  }
  for (const [name, metric] of metrics) if (metric.type === "histogram") checkHistogram(name, metric);
  return metrics;
}

function readSample(line: string): Sample {
  const [, name = "", list, number = ""] =
    new RegExp(`^(${NAME})(?:\\{(.*)\\})? (-?[0-9.e+-]+|\\+Inf|NaN)$`).exec(line) ?? [];
  if (name === "") throw new Error(`This is no sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let at = 0; list !== undefined && at < list.length; ) {
    LABEL.lastIndex = at;
    const [whole = "", label = "", value = ""] = LABEL.exec(list) ?? [];
    if (whole === "" || label in labels) throw new Error(`These are no labels: ${list}`);
    labels[label] = value;
    at += whole.length;
    if (at < list.length && list[at] !== ",") throw new Error(`These are no labels: ${list}`);
    at += 1;
  }
  return { name, labels, value: Number(number) };
}

function checkHistogram(name: string, { samples }: Metric): void {
  const groups = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const group of groups.values()) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const counts = buckets.map(({ value }) => value);
    const bounds = buckets.map(({ labels }) => (labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le)));
    const isSorted = (list: number[]) => list.every((value, index) => index === 0 || value >= (list[index - 1] ?? 0));
    if (!isSorted(bounds) || !isSorted(counts) || bounds.at(-1) !== Number.POSITIVE_INFINITY) throw new Error(name);
    if (group.find((sample) => sample.name === `${name}_count`)?.value !== counts.at(-1)) throw new Error(name);
    if (!group.some((sample) => sample.name === `${name}_sum`)) throw new Error(name);
  }
}
