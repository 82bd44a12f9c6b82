/** Values of the labels of one series, in the order of the names. They come from closed sets: each makes a series. */
type Labels = readonly string[];

/** Counts things that happen. */
export interface Counter {
  add(...labels: Labels): void;
}

/** Counts durations by their length. */
export interface Histogram {
  /** @param seconds a duration */
  observe(seconds: number, ...labels: Labels): void;
}

/** A number that is read when it is asked for, with the values of the labels. */
export type Reading = readonly [value: number, ...labels: Labels];

/** Upper bounds of the buckets, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30, 60] as const;
/** Series of one metric; further ones are not counted, so that a mistake cannot fill the memory. */
const MAX_SERIES = 2000;

/** Metrics of one process in the text format of Prometheus, version 0.0.4. */
export type Meter = ReturnType<typeof createMeter>;

/** Starts with no metric. */
export function createMeter() {
  const metrics: (() => Promise<string[]>)[] = [];

  function open<Value>(create: () => Value) {
    const series = new Map<string, { labels: Labels; value: Value }>();
    const find = (labels: Labels): { value: Value } | undefined => {
      const key = JSON.stringify(labels);
      const known = series.get(key);
      if (known !== undefined || series.size >= MAX_SERIES) return known;
      const made = { labels, value: create() };
      series.set(key, made);
      return made;
    };
    return { find, list: () => [...series.values()] };
  }

  return {
    counter(name: string, help: string, names: readonly string[] = []): Counter {
      const { find, list } = open(() => 0);
      metrics.push(async () => [
        ...head(name, help, "counter"),
        ...list().map(({ labels, value }) => line(name, names, labels, value)),
      ]);
      return {
        add(...labels) {
          const series = find(labels);
          if (series !== undefined) series.value += 1;
        },
      };
    },

    /** Its duration is in seconds. */
    histogram(name: string, help: string, names: readonly string[] = []): Histogram {
      const { find, list } = open(() => ({ counts: BUCKETS.map(() => 0), count: 0, sum: 0 }));
      metrics.push(async () => [
        ...head(name, help, "histogram"),
        ...list().flatMap(({ labels, value: { counts, count, sum } }) => [
          ...BUCKETS.map((bound, index) =>
            line(`${name}_bucket`, [...names, "le"], [...labels, String(bound)], counts[index] ?? 0),
          ),
          line(`${name}_bucket`, [...names, "le"], [...labels, "+Inf"], count),
          line(`${name}_sum`, names, labels, sum),
          line(`${name}_count`, names, labels, count),
        ]),
      ]);
      return {
        observe(seconds, ...labels) {
          const series = find(labels)?.value;
          if (series === undefined) return;
          for (const [index, bound] of BUCKETS.entries())
            if (seconds <= bound) series.counts[index] = (series.counts[index] ?? 0) + 1;
          series.count += 1;
          series.sum += seconds;
        },
      };
    },

    /** @param read called for each answer */
    gauge(name: string, help: string, names: readonly string[], read: () => Promise<Reading[]>): void {
      metrics.push(async () => [
        ...head(name, help, "gauge"),
        ...(await read()).map(([value, ...labels]) => line(name, names, labels, value)),
      ]);
    },

    /** Everything, in the order in which it was made. */
    async render(): Promise<string> {
      const lines: string[] = [];
      for (const metric of metrics) lines.push(...(await metric()));
      return `${lines.join("\n")}\n`;
    },
  };
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function line(name: string, names: readonly string[], labels: Labels, value: number): string {
  const pairs = names.map((label, index) => `${label}="${escapeLabel(labels[index] ?? "")}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
