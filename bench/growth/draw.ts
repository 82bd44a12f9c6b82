import { median } from "../report/statistics.ts";
import type { Growth } from "./subject.ts";

/** Pixels of the picture and of its plot. */
const SIZE = { width: 640, height: 300 } as const;
const PLOT = { left: 56, right: 430, top: 34, bottom: 256 } as const;
/** Smallest distance between two labels. */
const LABEL = 14;
/** For light and for dark pages. */
const COLOURS = ["#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#57606a", "#0e7c86"] as const;
const STYLE =
  "text{font:12px system-ui,sans-serif;fill:#1f2328}.grid{stroke:#d0d7de}path{fill:none;stroke-width:2}" +
  "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#3d444d}path,circle{filter:brightness(1.5)}}";

/** A scale by powers of ten. */
interface Scale {
  readonly place: (value: number) => number;
  readonly ticks: readonly number[];
}

function scaleBetween(values: readonly number[], [from, to]: readonly [number, number]): Scale {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const place = (value: number) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  return { place, ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)) };
}

/** CPU time of each request by size, both axes by powers of ten, as SVG that needs nothing else. */
export function drawGrowth({ subject, lines }: Growth): string {
  const series = lines.map(({ name, costs }) => ({
    name,
    values: costs.map((ofSize) => Math.max(median(ofSize.map(({ cpuMs }) => cpuMs)), 0.001)),
  }));
  const x = scaleBetween(subject.sizes, [PLOT.left, PLOT.right]);
  const y = scaleBetween(
    series.flatMap(({ values }) => values),
    [PLOT.bottom, PLOT.top],
  );
  const labels = spread(series.map(({ values }) => y.place(values.at(-1) ?? 1)));
  const drawn = series.map(({ name, values }, index) => {
    const points = values.map((value, at) => [round(x.place(subject.sizes[at] ?? 1)), round(y.place(value))] as const);
    const colour = COLOURS[index % COLOURS.length];
    const dots = points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`).join("");
    const label = `<text x="${PLOT.right + 22}" y="${round((labels[index] ?? 0) + 4)}">${name}</text>`;
    const end = `M${points.at(-1)?.join(" ")}L${PLOT.right + 19} ${round(labels[index] ?? 0)}`;
    return `<path stroke="${colour}" d="M${points.map((point) => point.join(" ")).join("L")}"/><path stroke="${colour}" stroke-opacity=".4" d="${end}"/>${dots}${label}`;
  });
  const title = `${subject.title}: CPU of a request by the number of ${subject.things}`;
  const described = series.map(({ name, values }) => `${name}: ${values.map(short).join(", ")}`).join("; ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-labelledby="t d">
<title id="t">${title}</title>
<desc id="d">Milliseconds at ${subject.sizes.map(short).join(", ")} ${subject.things}. ${described}.</desc>
<style>${STYLE}</style>
<text x="8" y="18">ms of CPU</text>
<text x="${PLOT.left}" y="${SIZE.height - 8}">${subject.things}</text>
${y.ticks.map((tick) => `<path class="grid" stroke-width="1" d="M${PLOT.left} ${round(y.place(tick))}H${PLOT.right}"/><text text-anchor="end" x="${PLOT.left - 6}" y="${round(y.place(tick) + 4)}">${short(tick)}</text>`).join("\n")}
${subject.sizes.map((size) => `<text text-anchor="middle" x="${round(x.place(size))}" y="${PLOT.bottom + 18}">${short(size)}</text>`).join("")}
${drawn.join("\n")}
</svg>
`;
}

/** Moves places apart that lie too close, each as little as it takes; they keep their order. */
function spread(places: readonly number[]): number[] {
  const order = [...places.keys()].sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  const moved = [...places];
  let free = Number.NEGATIVE_INFINITY;
  for (const index of order) {
    const at = Math.max(places[index] ?? 0, free);
    moved[index] = at;
    free = at + LABEL;
  }
  const over = Math.max(0, free - LABEL - PLOT.bottom);
  return moved.map((at) => at - over);
}

function short(value: number): string {
  return value >= 1 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
