import { findRatio, isMet, type Measure, type PartReport, type Target } from "./part-report.ts";
import { findSpread } from "./statistics.ts";

const HEADINGS = ["measured", "here", "beside it", "figure of that", "ratio", "target"];

/** The table of all parts as Markdown, with notes and missed targets; `isPadded`, so that it can be read in a terminal. */
export function formatReports(reports: readonly PartReport[], isPadded: boolean): string {
  const rows = reports.flatMap(({ title, measures }) => [[`**${title}**`], ...measures.flatMap(toRows)]);
  const notes = reports.flatMap((report) => report.notes.map((note) => `- ${report.title}: ${note}`));
  const sections = [formatTable([HEADINGS, ...rows], isPadded), notes.join("\n"), formatVerdict(reports)];
  return sections.filter((section) => section !== "").join("\n\n");
}

/** A row per peer, the first with the target of the value itself. */
function toRows(measure: Measure): string[][] {
  const own = measure.targets?.find(({ ratioTo }) => ratioTo === undefined);
  const { what, unit, samples, peers = [] } = measure;
  const first = [`${what}, ${unit}`, formatSpread(samples)];
  if (peers.length === 0) return [[...first, "", "", "", formatTarget(measure, own)]];
  return peers.map((peer, index) => {
    const target = measure.targets?.find(({ ratioTo }) => ratioTo === peer.name) ?? (index === 0 ? own : undefined);
    const ratio = findRatio(measure, peer.name);
    const start = index === 0 ? first : ["", ""];
    return [...start, peer.name, formatSpread(peer.samples), formatRatio(ratio), formatTarget(measure, target)];
  });
}

function formatTarget(measure: Measure, target: Target | undefined): string {
  if (target === undefined) return "";
  return `${describeTarget(measure, target)}: ${isMet(measure, target) ? "met" : "**missed**"}`;
}

function describeTarget({ unit }: Measure, { bound, limit, ratioTo }: Target): string {
  const sign = bound === "at most" ? "≤" : "≥";
  return `${sign} ${limit}${ratioTo === undefined ? ` ${unit}` : "x"}`;
}

/** `12.3 (11.8..14.0)`; the median alone where there is one sample. */
function formatSpread(samples: readonly number[]): string {
  const { median, min, max } = findSpread(samples);
  if (samples.length < 2) return formatNumber(median);
  return `${formatNumber(median)} (${formatNumber(min)}..${formatNumber(max)})`;
}

function formatRatio(ratio: number): string {
  return Number.isNaN(ratio) ? "" : `${formatNumber(ratio)}x`;
}

/** Three significant digits, never fewer than the whole number has. */
function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  const text = value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.995 ? 2 : 3);
  return size >= 10_000 ? text.replaceAll(/\B(?=(\d{3})+$)/g, ",") : text;
}

function formatTable(rows: readonly string[][], isPadded: boolean): string {
  const widths = HEADINGS.map((_, column) => (isPadded ? Math.max(...rows.map((row) => row[column]?.length ?? 0)) : 0));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(Math.max(3, width + 2))).join("|")}|`;
  const [head = [], ...body] = rows;
  return [line(head), rule, ...body.map(line)].join("\n");
}

function formatVerdict(reports: readonly PartReport[]): string {
  const judged = reports.flatMap(({ title, measures }) =>
    measures.flatMap((measure) =>
      (measure.targets ?? []).map((target) => ({
        text: `${title}: ${measure.what}, ${describeTarget(measure, target)}${target.ratioTo ? ` ${target.ratioTo}` : ""}`,
        isMet: isMet(measure, target),
      })),
    ),
  );
  const missed = judged.filter((one) => !one.isMet);
  if (judged.length === 0) return "";
  const count = `Targets: ${judged.length - missed.length} met, ${missed.length} missed.`;
  return [count, ...missed.map(({ text }) => `- MISSED ${text}`)].join("\n");
}
