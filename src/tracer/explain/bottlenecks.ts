import type {
  AnalysedSpan,
  Baseline,
  BaselineOf,
  Quartiles,
  TraceAnalysis,
} from '../trace/analysis.ts';
import type { SpanHead } from '../trace/span.ts';
import type { Finding, Shape } from './finding.ts';
import { groupBy } from '../../kit/group-by.ts';
import { operationKey } from './operation-key.ts';
import type { PathTimes } from './path-times.ts';

export type Severity = 'low' | 'medium' | 'high' | 'critical';

/** A span that took longer than it should, failed, or makes most of a trace. */
export interface Bottleneck {
  readonly head: SpanHead;
  /**
   * The median of what is known of its operation: of its own history, else of this trace, where it
   * may be its own duration.
   */
  readonly expectedUs: number;
  readonly basis: 'history' | 'trace';
  /**
   * `error`: it failed, and none of its children did. `slow`: its own work took unusually long.
   * `share`: nothing is known of its operation, and its own work is more than half of the trace.
   * A shape: how it stands to other calls, of which it is the heaviest.
   */
  readonly reason: Suspect | Shape;
  readonly severity: Severity;
  /** What of the critical path is its own work; 0 is off the path. */
  readonly onPathUs: number;
  /** By how much the trace would be shorter were the span as expected, at most. */
  readonly savingUs: number;
  /** What it stands for, where its reason is a shape. */
  readonly finding?: Finding;
}

/** Why a span is a bottleneck by itself. */
type Suspect = 'error' | 'slow' | 'share';

/**
 * Every bottleneck of a trace, the one that costs the critical path most first. A span off the path
 * costs it nothing and is never more than `low`, unless the trace failed by it.
 */
export function findBottlenecks(
  analysis: TraceAnalysis,
  baselineOf: BaselineOf,
  onPath: PathTimes,
): Bottleneck[] {
  const found: Bottleneck[] = [];
  const peers = new Peers(analysis.spans);
  examine({ analysis, baselineOf, peers }, (suspicion) => {
    const usual = suspicion.usual ?? peers.baselineOf(suspicion.head);
    const onPathUs = onPath.get(suspicion.head.spanId) ?? 0;
    found.push(bottleneckOf({ ...suspicion, usual }, analysis, onPathUs));
  });
  return found.toSorted(costlierFirst);
}

/** The one that costs the critical path most first. */
export function costlierFirst(a: Bottleneck, b: Bottleneck): number {
  return (
    b.savingUs - a.savingUs ||
    severities.indexOf(b.severity) - severities.indexOf(a.severity) ||
    b.onPathUs - a.onPathUs ||
    (a.head.spanId < b.head.spanId ? -1 : 1)
  );
}

/** How many there are, without the cost of a critical path: always as many as are found. */
export function countBottlenecks(analysis: TraceAnalysis, baselineOf: BaselineOf): number {
  let count = 0;
  const peers = new Peers(analysis.spans);
  examine({ analysis, baselineOf, peers }, () => (count += 1));
  return count;
}

const severities: readonly Severity[] = ['low', 'medium', 'high', 'critical'];

/** How a span stands to what is usual for its operation. */
interface Standing {
  readonly head: SpanHead;
  readonly basis: Bottleneck['basis'];
  /** What is usual for it, where enough is known for that. */
  readonly usual: Baseline | undefined;
  /** By how many robust standard deviations its own work is longer; 0 when that is not known. */
  readonly z: number;
  readonly excessUs: number;
}

interface Suspicion extends Standing {
  readonly reason: Suspect;
}

/** An own work below this, or below 1 % of the trace, is not worth anybody's time. */
const workMinUs = 1_000;
const shareMin = 0.01;
/** So many spans of one operation in one trace say what is usual for it. */
const peersMin = 5;
/** Spreads below these (of logarithms) are taken for these: few spans scatter less than many. */
const spreadMin = { history: 0.1, trace: 0.35 };

interface Examined {
  readonly analysis: TraceAnalysis;
  readonly baselineOf: BaselineOf;
  readonly peers: Peers;
}

function examine(
  { analysis: { summary, spans }, baselineOf, peers }: Examined,
  found: (suspicion: Suspicion) => void,
): void {
  const totalUs = summary.endUs - summary.startUs;
  const floorUs = Math.max(workMinUs, totalUs * shareMin);
  const failures = summary.errorCount > 0 ? failuresOf(spans) : undefined;
  for (const span of spans) {
    const hasFailed = failures !== undefined && failures.has(span);
    if (span.selfUs < floorUs && !hasFailed) continue;
    const standing = standingOf(span, baselineOf(span.head), peers);
    const reason = reasonOf(standing, {
      hasFailed,
      isSlow: standing.z >= 2 && standing.excessUs >= floorUs,
      isMost: spans.length > 1 && span.selfUs * 2 > totalUs,
    });
    if (reason) found({ ...standing, reason });
  }
}

function reasonOf(
  { usual }: Standing,
  span: { readonly hasFailed: boolean; readonly isSlow: boolean; readonly isMost: boolean },
): Suspect | undefined {
  if (span.hasFailed) return 'error';
  if (span.isSlow) return 'slow';
  return span.isMost && !usual ? 'share' : undefined;
}

/** Spans that failed without a failed child: where failures began. */
function failuresOf(spans: readonly AnalysedSpan[]): ReadonlySet<AnalysedSpan> {
  const failed = spans.filter(({ head }) => head.isError);
  const above = new Set(failed.map(({ parent }) => parent?.spanId));
  return new Set(failed.filter(({ head }) => !above.has(head.spanId)));
}

function standingOf(
  { head, selfUs }: AnalysedSpan,
  history: Baseline | undefined,
  peers: Peers,
): Standing {
  const basis = history ? 'history' : 'trace';
  const usual = history ?? peers.sufficientOf(head);
  if (!usual) return { head, basis, usual, z: 0, excessUs: 0 };
  const isLonger = head.endUs - head.startUs > usual.duration.p50Us;
  const z = isLonger ? deviation(selfUs, usual.self, spreadMin[basis]) : 0;
  const excessUs = Math.max(0, selfUs - usual.self.p50Us);
  return { head, basis, usual, z, excessUs };
}

/** The robust z of a duration, in the log domain: latencies are nearly lognormal. */
function deviation(us: number, { p25Us, p50Us, p75Us }: Quartiles, spread: number): number {
  const width = 0.7413 * (log(p75Us) - log(p25Us));
  return (log(us) - log(p50Us)) / Math.max(width, spread);
}

function log(us: number): number {
  return Math.log(Math.max(us, 1));
}

function bottleneckOf(
  suspicion: Suspicion & { readonly usual: Baseline },
  { summary }: TraceAnalysis,
  onPathUs: number,
): Bottleneck {
  const { head, reason, basis, usual, z, excessUs } = suspicion;
  const totalUs = Math.max(1, summary.endUs - summary.startUs);
  // The time of what failed is lost, however usual it is.
  const savingUs = reason === 'error' ? onPathUs : Math.min(excessUs, onPathUs);
  const share = savingUs / totalUs;
  const isFault = head.spanId === summary.error?.spanId;
  const severity =
    reason === 'error' ? failureSeverity(share, isFault) : slowSeverity(z, share, basis);
  return {
    head,
    expectedUs: usual.duration.p50Us,
    basis,
    reason,
    severity,
    onPathUs,
    savingUs: reason === 'share' ? 0 : savingUs,
  };
}

function failureSeverity(share: number, isFault: boolean): Severity {
  if (share >= 0.3) return 'critical';
  if (share >= 0.15) return 'high';
  return isFault || share >= 0.05 ? 'medium' : 'low';
}

/** One trace alone never makes a bottleneck worse than `medium`. */
function slowSeverity(z: number, share: number, basis: Bottleneck['basis']): Severity {
  if (z < 3 || share < 0.05) return 'low';
  if (basis === 'trace' || z < 4 || share < 0.15) return 'medium';
  return z >= 6 && share >= 0.3 ? 'critical' : 'high';
}

/** What is usual for an operation within one trace; looked for only when somebody asks. */
class Peers {
  readonly #spans: readonly AnalysedSpan[];
  readonly #baselines = new Map<string, Baseline>();
  #countByName: Map<string, number> | undefined;
  #groups: ReadonlyMap<string, readonly AnalysedSpan[]> | undefined;

  constructor(spans: readonly AnalysedSpan[]) {
    this.#spans = spans;
  }

  /** Undefined where the trace has too few spans of the operation to say what is usual. */
  sufficientOf(head: SpanHead): Baseline | undefined {
    if (this.#spans.length < peersMin) return undefined;
    this.#countByName ??= countByName(this.#spans);
    // Names alone are cheap to count, and nearly always too few already.
    if ((this.#countByName.get(head.name) ?? 0) < peersMin) return undefined;
    const baseline = this.baselineOf(head);
    return baseline.self.count >= peersMin ? baseline : undefined;
  }

  /** Of however many there are. */
  baselineOf(head: SpanHead): Baseline {
    const key = operationKey(head);
    const known = this.#baselines.get(key);
    if (known) return known;
    this.#groups ??= groupBy(this.#spans, (span) => operationKey(span.head));
    const group = this.#groups.get(key) ?? [];
    const baseline = {
      duration: quartilesOf(group.map((span) => span.head.endUs - span.head.startUs)),
      self: quartilesOf(group.map(({ selfUs }) => selfUs)),
    };
    this.#baselines.set(key, baseline);
    return baseline;
  }
}

function countByName(spans: readonly AnalysedSpan[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { head } of spans) counts.set(head.name, (counts.get(head.name) ?? 0) + 1);
  return counts;
}

function quartilesOf(values: readonly number[]): Quartiles {
  const sorted = Float64Array.from(values).toSorted();
  const at = (share: number) => {
    const place = share * (sorted.length - 1);
    const lower = sorted[Math.floor(place)] ?? 0;
    const upper = sorted[Math.ceil(place)] ?? 0;
    return Math.round(lower + (upper - lower) * (place % 1));
  };
  return { count: sorted.length, p25Us: at(0.25), p50Us: at(0.5), p75Us: at(0.75) };
}
