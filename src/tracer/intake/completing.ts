import { isDeepStrictEqual } from 'node:util';
import { countBottlenecks } from '../explain/bottlenecks.ts';
import { Contributor, type Contribution } from '../series/contribution.ts';
import { Deltas } from '../series/deltas.ts';
import { spentOn } from '../series/model-calls.ts';
import { analyse } from '../trace/analyse.ts';
import type { BaselineOf, TraceAnalysis, TraceSummary } from '../trace/analysis.ts';
import type { SpanHead } from '../trace/span.ts';
import { baselineKey, type BaselineTable } from './baseline-table.ts';
import type { UnfitTrace } from './messages.ts';
import type { Completion, LoggedError, LoggedPlace, NamedChunks, TraceEvent } from './writes.ts';
import type { OpenTrace, SpanCount } from './open-trace.ts';
import { errorText, statusNumbers, storable } from './open-row.ts';
import type { TagPacker } from './tag-packer.ts';
import { completeRowColumns, type CompleteRow } from './trace-rows.ts';

/** What a completion needs of its trace once it is written. */
export interface CompletingTrace {
  readonly trace: OpenTrace;
  /** Its spans when it was analysed, and how many of them its row had not counted. */
  readonly heads: readonly SpanHead[];
  readonly uncounted: SpanCount;
}

/** A completion that is being written. */
export interface OpenCompletion {
  readonly completion: Completion;
  readonly traces: readonly CompletingTrace[];
  /** Those of the given that will never be complete. */
  readonly unfit: readonly UnfitTrace[];
  /** Those of the given for which there was no room. */
  readonly left: readonly OpenTrace[];
}

export interface Given {
  readonly traces: readonly OpenTrace[];
  readonly paidChunks: readonly number[];
  /** Whether a trace is still to be completed when its turn comes: spans of it may have come. */
  readonly isWanted: (trace: OpenTrace) => boolean;
}

/**
 * Cells of minutes that a statement adds to, about: traces of long ago touch many, those of now few, and
 * all lie in one row.
 */
const cellsMax = 10_000;

/** Traces analysed in one go: whatever else the thread is asked for waits so long. */
const stepTraces = 16;

/** Analyses complete traces and says what they add to the series. */
export class Completing {
  readonly #contributor = new Contributor();
  readonly #packer: TagPacker;
  #deltas = newDeltas();
  #baselines: BaselineTable = new Map();
  #number = 0;

  constructor(packer: TagPacker) {
    this.#packer = packer;
  }

  /** The histories that slow spans are told by. */
  setBaselines(table: BaselineTable): void {
    this.#baselines = table;
  }

  /**
   * Makes one statement's input of complete traces, a few at each step: of all that are given and still
   * wanted, or of the first of them.
   */
  *build({ traces, paidChunks, isWanted }: Given): Generator<void, OpenCompletion> {
    const draft = newDraft();
    let at = 0;
    for (; at < traces.length && this.#deltas.cellCount < cellsMax; at += 1) {
      const trace = traces[at];
      if (trace && isWanted(trace)) this.#take(trace, draft);
      if ((at + 1) % stepTraces === 0) yield;
    }
    const { completing, unfit } = draft;
    const completion = this.#completion(draft, paidChunks);
    return { completion, traces: completing, unfit, left: traces.slice(at) };
  }

  /** Forgets which series the database knows: what was built last has not reached it. */
  forget(): void {
    this.#deltas = newDeltas();
  }

  readonly #baselineOf: BaselineOf = (operation) => this.#baselines.get(baselineKey(operation));

  #take(trace: OpenTrace, draft: Draft): void {
    const heads = [...trace.spans.values()];
    const found = this.#find(trace, heads);
    if ('reason' in found) {
      draft.unfit.push(found);
      return;
    }
    const { analysis, contribution, former, bottlenecks } = found;
    this.#deltas.add(contribution.samples, 1);
    if (former) this.#deltas.add(former.samples, -1);
    draft.rows.push(completeRow(trace, found));
    draft.completing.push({ trace, heads, uncounted: { ...trace.uncounted } });
    const { told } = draft;
    told.named.push(...namedChunks(trace));
    if (trace.isDoubtful) told.doubtfulIds.push(trace.traceId);
    const error = loggedError(trace, analysis.summary);
    if (error) told.errors.push(error);
    const logged = former && loggedError(trace, former.summary);
    if (logged && logged.atMs !== error?.atMs) told.outdatedErrors.push(logged);
    if (!isRepetition(heads, trace.counted)) {
      told.events.push(traceEvent(trace, analysis, bottlenecks));
    }
  }

  /** One trace that cannot be analysed must not keep all the others from being complete. */
  #find(trace: OpenTrace, heads: readonly SpanHead[]): Finding | UnfitTrace {
    const { traceId } = trace;
    if (heads.length === 0) return { traceId, reason: 'none of its spans is kept any more' };
    try {
      const analysis = analyse(heads);
      const contribution = this.#contributor.contributionOf(analysis);
      const bottlenecks = countBottlenecks(analysis, this.#baselineOf);
      const tags = trace.tagsOf(analysis.summary.rootSpanId, this.#packer);
      const former = this.#findFormer(trace.counted);
      return { analysis, contribution, former, bottlenecks, tags };
    } catch (error) {
      return {
        traceId,
        reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
      };
    }
  }

  /** What the trace was when it was counted, if it was. */
  #findFormer(counted: readonly SpanHead[]): Former | undefined {
    if (counted.length === 0) return undefined;
    const analysis = analyse(counted);
    const { samples } = this.#contributor.contributionOf(analysis);
    return { summary: analysis.summary, samples };
  }

  #completion({ rows, completing, told }: Draft, paidChunks: readonly number[]): Completion {
    this.#number += 1;
    return {
      number: this.#number,
      count: rows.length,
      columns: completeRowColumns(rows),
      traceIds: completing.map(({ trace }) => trace.traceId),
      additions: this.#deltas.drain(),
      paidChunks,
      ...told,
    };
  }
}

/** What a completion is to hold, trace by trace. */
interface Draft {
  readonly rows: CompleteRow[];
  readonly completing: CompletingTrace[];
  readonly unfit: UnfitTrace[];
  readonly told: {
    readonly doubtfulIds: string[];
    readonly named: NamedChunks[];
    readonly errors: LoggedError[];
    readonly outdatedErrors: LoggedPlace[];
    readonly events: TraceEvent[];
  };
}

function newDraft(): Draft {
  const told = { doubtfulIds: [], named: [], errors: [], outdatedErrors: [], events: [] };
  return { rows: [], completing: [], unfit: [], told };
}

/** The chunks that a row of a trace is to name beside what it names already; none where it owes none. */
export function namedChunks({ traceId, owedChunks }: OpenTrace): NamedChunks[] {
  return owedChunks.length === 0 ? [] : [{ traceId, chunks: [...owedChunks] }];
}

/** Whether nothing came but what was counted: exporters send again what was not answered in time. */
function isRepetition(heads: readonly SpanHead[], counted: readonly SpanHead[]): boolean {
  if (heads.length !== counted.length) return false;
  return heads.every((head, at) => head === counted[at] || isDeepStrictEqual(head, counted[at]));
}

function newDeltas(): Deltas {
  return new Deltas({ nowUs: () => Date.now() * 1_000 });
}

interface Finding {
  readonly analysis: TraceAnalysis;
  readonly contribution: Contribution;
  readonly former: Former | undefined;
  readonly bottlenecks: number;
  readonly tags: string | undefined;
}

interface Former {
  readonly summary: TraceSummary;
  readonly samples: Contribution['samples'];
}

function completeRow(
  trace: OpenTrace,
  { analysis, contribution, bottlenecks, tags }: Finding,
): CompleteRow {
  const { summary, split } = analysis;
  return {
    trace_id: trace.traceId,
    day: trace.day,
    received_at: trace.receivedAtMs,
    start_us: summary.startUs,
    end_us: summary.endUs,
    name: storable(summary.name),
    service: storable(summary.service),
    agent: storable(summary.agent),
    agents: summary.agents.map(storable),
    terms: [...trace.terms],
    status: statusNumbers[summary.status],
    span_count: summary.spanCount,
    error_count: summary.errorCount,
    tags: tags ?? null,
    is_partial: summary.isPartial,
    network_us: split.networkUs,
    processing_us: split.processingUs,
    ...spendOf(contribution),
    bottlenecks,
    error: errorText(summary.error),
    known_revision: trace.revision,
    known_completions: trace.completions,
    known_spans: trace.counted.length,
    chunks: [...trace.owedChunks],
  };
}

/** Tokens and cost of the calls of models; null where there are none. */
function spendOf({ calls }: Contribution) {
  if (calls.length === 0) return { input_tokens: null, output_tokens: null, cost_usd: null };
  const { inputTokens, outputTokens, costUsd } = spentOn(calls);
  return { input_tokens: inputTokens, output_tokens: outputTokens, cost_usd: costUsd };
}

function loggedError({ traceId }: OpenTrace, summary: TraceSummary): LoggedError | undefined {
  const { error, startUs, name, service } = summary;
  if (!error) return undefined;
  const { spanId, code, message, agent } = error;
  const atMs = Math.floor(startUs / 1_000);
  return { traceId, atMs, spanId, code, message, agent, name, service };
}

function traceEvent(
  { traceId, completions }: OpenTrace,
  { summary }: TraceAnalysis,
  bottlenecks: number,
): TraceEvent {
  const { name, startUs, endUs, status, spanCount, agents, agent } = summary;
  return {
    traceId,
    name,
    startMs: Math.floor(startUs / 1_000),
    durationMs: Math.round((endUs - startUs) / 1_000),
    status,
    spans: spanCount,
    bottlenecks,
    agents,
    agent,
    isFirst: completions === 0,
  };
}
