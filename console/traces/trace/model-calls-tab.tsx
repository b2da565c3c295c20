import { useMemo, type ReactNode } from 'react';
import { Empty } from '../../ui/empty.tsx';
import { formatCount, formatDollars } from '../../ui/text.ts';
import type { Trace } from '../parts/answers.ts';
import { formatMicros } from '../parts/durations.ts';
import { SortableTable, type SortableColumn } from '../parts/sortable-table.tsx';
import { modelCallsOf, type ModelCall } from './model-calls.ts';

export interface ModelCallsTabProps {
  readonly trace: Trace;
  readonly onShowSpan: (spanId: string) => void;
}

/** The calls of models, tools and agents in a trace: what they used and what it cost. */
export function ModelCallsTab({ trace, onShowSpan }: ModelCallsTabProps): ReactNode {
  const calls = useMemo(() => modelCallsOf(trace.spans), [trace]);
  const columns = useMemo(() => columnsOf(onShowSpan), [onShowSpan]);
  if (calls.length === 0) {
    return (
      <Empty title="No call of a model">
        <p>
          No span of this trace says <code>gen_ai.request.model</code>,{' '}
          <code>gen_ai.tool.name</code> or the like.
        </p>
      </Empty>
    );
  }
  const { genAi } = trace;
  return (
    <div className="stack">
      {genAi ? (
        <p>
          {formatCount(genAi.inputTokens)} tokens in, {formatCount(genAi.outputTokens)} out
          {genAi.costUsd > 0 ? `, ${formatDollars(genAi.costUsd)}` : ''}.
          {genAi.models.length > 0 ? ` Models: ${genAi.models.join(', ')}.` : ''}
          {genAi.tools.length > 0 ? ` Tools: ${genAi.tools.join(', ')}.` : ''}
        </p>
      ) : null}
      <SortableTable
        columns={columns}
        rows={calls}
        keyOf={({ span }) => span.spanId}
        sortedBy="Duration"
      />
    </div>
  );
}

function columnsOf(onShowSpan: (spanId: string) => void): readonly SortableColumn<ModelCall>[] {
  return [
    {
      title: 'Span',
      value: ({ span }) => span.name,
      cell: ({ span }) => (
        <button type="button" className="as-link" onClick={() => onShowSpan(span.spanId)}>
          {span.name}
        </button>
      ),
    },
    { title: 'Agent', value: ({ span }) => span.agent },
    { title: 'Operation', value: ({ operation }) => operation },
    {
      title: 'Model',
      value: ({ model }) => model,
      cell: ({ model, provider }) => (
        <>
          {model} <span className="faint">{provider}</span>
        </>
      ),
    },
    { title: 'Tool', value: ({ tool }) => tool },
    figure('Tokens in', ({ inputTokens }) => inputTokens, formatCount),
    figure('Cached', ({ cachedTokens }) => cachedTokens, formatCount),
    figure('Tokens out', ({ outputTokens }) => outputTokens, formatCount),
    figure('Out per second', speedOf, (speed) => speed.toFixed(1)),
    figure('Cost', ({ costUsd }) => costUsd, formatDollars),
    figure('Duration', ({ span }) => span.durationUs, formatMicros),
  ];
}

function figure(
  title: string,
  read: (call: ModelCall) => number | undefined,
  tell: (value: number) => string,
): SortableColumn<ModelCall> {
  return {
    title,
    value: (call) => read(call) ?? -1,
    cell: (call) => {
      const value = read(call);
      return value === undefined ? '' : tell(value);
    },
  };
}

function speedOf({ outputTokens, span }: ModelCall): number | undefined {
  const isKnown = outputTokens !== undefined && span.durationUs > 0;
  return isKnown ? (outputTokens * 1_000_000) / span.durationUs : undefined;
}
