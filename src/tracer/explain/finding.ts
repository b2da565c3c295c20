import type { AnalysedSpan } from '../trace/analysis.ts';
import type { PathTimes } from './path-times.ts';

/** What each shape was recognised by. Names are of services and operations, times microseconds. */
export interface ShapeEvidence {
  /** One operation called again and again in sequence. */
  readonly 'n-plus-one': {
    readonly operation: string;
    readonly calls: number;
    readonly callUs: number;
    readonly callee: string | undefined;
  };
  /** Calls one right after another that no model's answer connects. */
  readonly 'serial-calls': {
    readonly operations: readonly string[];
    readonly calls: number;
    readonly longestUs: number;
  };
  /** An operation called again after it failed. */
  readonly retry: {
    readonly operation: string;
    readonly failures: number;
    readonly errorCode: string | undefined;
    readonly waitUs: number;
    readonly hasRecovered: boolean;
  };
  /** A message lay between its sending and its receipt. */
  readonly 'queue-wait': {
    readonly queue: string;
    readonly messages: number;
    readonly longestUs: number;
  };
  /** A call took longer for its caller than for the service that answered. */
  readonly 'client-server-gap': {
    readonly from: string;
    readonly to: string;
    readonly calls: number;
    readonly clientUs: number;
    readonly serverUs: number;
  };
  /** A model wrote much. */
  readonly 'long-output': {
    readonly model: string;
    readonly outputTokens: number;
    readonly tokensPerSecond: number;
    readonly durationUs: number;
  };
  /** A statement took much of the trace. */
  readonly 'slow-database': {
    readonly operation: string;
    readonly database: string;
    readonly calls: number;
    readonly longestUs: number;
  };
  /** The first call of an instance, by its own word or because all later ones were far shorter. */
  readonly 'cold-start': {
    readonly operation: string;
    readonly firstUs: number;
    readonly laterUs: number | undefined;
  };
}

export type Shape = keyof ShapeEvidence;

/** A shape that was recognised in a trace. */
export type Finding<S extends Shape = Shape> = {
  readonly [K in S]: {
    readonly shape: K;
    /** By start. */
    readonly spanIds: readonly string[];
    /** By how much the trace would be shorter without it, at most; by its own critical path. */
    readonly savingUs: number;
    /** What of its time would then be left; with `savingUs` what it takes now. */
    readonly remainsUs: number;
    readonly evidence: ShapeEvidence[K];
  };
}[S];

/** What shapes are looked for in. */
export interface Scene {
  readonly totalUs: number;
  readonly spans: readonly AnalysedSpan[];
  /** Those that share a parent, by start. */
  readonly families: readonly (readonly AnalysedSpan[])[];
  /** Runs of at least five spans of one operation below one parent. */
  readonly repetitions: readonly (readonly AnalysedSpan[])[];
  readonly isRepeated: (span: AnalysedSpan) => boolean;
  /** For how long the trace went on after its last root had ended. */
  readonly outlastsUs: number;
  /** Of the critical path, while no span ran. */
  readonly idleUs: number;
  readonly onPath: PathTimes;
  /** With what lies below. */
  readonly onPathWithin: PathTimes;
  /** Whether the span itself says that its instance had just been started. */
  readonly isCold: (spanId: string) => boolean;
}

/** Whether its answer decides what is done next, so that nothing after it is independent of it. */
export function isModelCall({ head }: AnalysedSpan): boolean {
  const operation = head.genAi?.operation;
  if (operation === undefined) return head.callee?.type === 'model';
  return modelOperations.has(operation);
}

const modelOperations = new Set(['chat', 'text_completion', 'generate_content', 'plan']);

/** How long a span took. */
export function durationOf({ head }: AnalysedSpan): number {
  return head.endUs - head.startUs;
}

/** What the path would lack without these and all below them. */
export function pathSum(scene: Scene, spans: readonly AnalysedSpan[]): number {
  return spans.reduce((sum, { head }) => sum + (scene.onPathWithin.get(head.spanId) ?? 0), 0);
}

/** The same of the one that holds most of it. */
export function pathMax(scene: Scene, spans: readonly AnalysedSpan[]): number {
  return spans.reduce(
    (most, { head }) => Math.max(most, scene.onPathWithin.get(head.spanId) ?? 0),
    0,
  );
}

/** The ids by start. */
export function idsOf(spans: readonly AnalysedSpan[]): string[] {
  return spans.toSorted(byStart).map(({ head }) => head.spanId);
}

/** An order that is the same for any order of the spans. */
export function byStart({ head: a }: AnalysedSpan, { head: b }: AnalysedSpan): number {
  return a.startUs - b.startUs || a.endUs - b.endUs || (a.spanId < b.spanId ? -1 : 1);
}

/** The longest of some durations; 0 of none. */
export function longestOf(spans: readonly AnalysedSpan[]): number {
  return spans.reduce((most, span) => Math.max(most, durationOf(span)), 0);
}
