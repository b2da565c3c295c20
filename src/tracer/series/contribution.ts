import { PriceList } from '../../kit/prices/price-list.ts';
import type { AnalysedSpan, TraceAnalysis, TraceSummary } from '../trace/analysis.ts';
import { findModelCalls, type ModelCall } from './model-calls.ts';
import { operationLabels } from './operation.ts';
import type { Sample, SeriesKind, SeriesLabels } from './series.ts';

/** What a trace adds to the series, and what its calls of models took. */
export interface Contribution {
  readonly samples: readonly Sample[];
  readonly calls: readonly ModelCall[];
}

/**
 * Says what traces add to the series: always the same for the same analysis, so that what was added
 * can be taken back.
 */
export class Contributor {
  readonly #prices = new PriceList();

  /** Everything that a trace adds to the series. */
  contributionOf({ summary, spans }: TraceAnalysis): Contribution {
    const samples: Sample[] = [];
    addTrace(samples, summary);
    for (const span of spans) addSpan(samples, span);
    const calls = findModelCalls(spans, this.#prices);
    for (const call of calls) addCall(samples, call);
    return { samples, calls };
  }
}

function addTrace(samples: Sample[], summary: TraceSummary): void {
  const { name, agent, status, error } = summary;
  const isError = status !== 'success';
  const facts = {
    atUs: summary.startUs,
    isError,
    amount: summary.endUs - summary.startUs,
    isDuration: true,
  };
  samples.push(
    sampleOf('traceName', [name], facts),
    sampleOf('traceAgent', [agent], facts),
    sampleOf('traceStatus', [status], facts),
  );
  if (error === undefined) return;
  const failure = { atUs: summary.startUs, isError: true, amount: 0, isDuration: false };
  samples.push(sampleOf('error', [error.code, error.agent], failure));
}

function addSpan(samples: Sample[], span: AnalysedSpan): void {
  const { head, parent, selfUs } = span;
  const { startUs: atUs, endUs, isError, service, callee } = head;
  const labels = operationLabels(head);
  const facts = { atUs, isError, amount: endUs - atUs, isDuration: true };
  samples.push(
    sampleOf('operation', labels, facts),
    sampleOf('self', labels, { atUs, isError, amount: selfUs, isDuration: true }),
  );
  const handled = { atUs, isError, amount: endUs - atUs, isDuration: false };
  if (span.isEntry) {
    samples.push(sampleOf('service', [service, 'service'], handled));
    if (parent !== undefined && parent.service !== service) {
      samples.push(sampleOf('edge', [parent.service, service, 'service'], facts));
    }
  }
  if (span.isExternalCall && callee !== undefined) {
    samples.push(
      sampleOf('service', [callee.name, callee.type], handled),
      sampleOf('edge', [service, callee.name, callee.type], facts),
    );
  }
}

const microdollars = 1_000_000;

function addCall(samples: Sample[], call: ModelCall): void {
  const { head, provider, model, costUsd } = call;
  const labels = [head.agent, provider, model] as const;
  const facts = { atUs: head.startUs, isError: head.isError, isDuration: false };
  samples.push(
    sampleOf('inputTokens', labels, { ...facts, amount: call.inputTokens }),
    sampleOf('outputTokens', labels, { ...facts, amount: call.outputTokens }),
  );
  if (costUsd === undefined) return;
  samples.push(sampleOf('cost', labels, { ...facts, amount: costUsd * microdollars }));
}

function sampleOf<Kind extends SeriesKind>(
  kind: Kind,
  labels: SeriesLabels[Kind],
  { atUs, isError, amount, isDuration }: Omit<Sample, 'kind' | 'labels'>,
): Sample {
  return { kind, labels, atUs, isError, amount, isDuration };
}
