import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import type { TracedOperation } from '../explain/bottlenecks-view.ts';
import type { ExplainInputs } from '../explain/views.ts';
import type { Change } from '../explain/what-if-steps.ts';
import { windowAnswer, type MeasuredRange, type TimeRange } from '../explain/window-answer.ts';
import type { BaselineTable } from '../intake/baseline-table.ts';
import type { explainRoutes as routes } from '../schemas/explain.ts';

export type ExplainHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** What is asked of the rest of the tracer. */
export interface ExplainParts {
  /** What a view says of a trace, as JSON; throws `not_found`. */
  view<Name extends keyof ExplainInputs>(
    traceId: string,
    name: Name,
    input: ExplainInputs[Name],
  ): Promise<Buffer>;
  /** What the pair view `compare` says of two traces, as JSON; throws `not_found`. */
  compare(baseId: string, otherId: string): Promise<Buffer>;
  /** The histories of operations, as far as there are any. */
  baselines(operations: readonly TracedOperation[]): Promise<BaselineTable>;
  /** What each operation did within a range, told of as counted. */
  windows(range: TimeRange): Promise<MeasuredRange>;
}

/** The edge of what explains traces. */
export function explainHandlers(parts: ExplainParts): ExplainHandlers {
  return {
    readBottlenecks: async ({ params }) => {
      const traceId = params.traceId.toLowerCase();
      const operations = await parts.view(traceId, 'operations', undefined);
      const baselines = await parts.baselines(
        // The view's own words, read back.
        JSON.parse(operations.toString()) as readonly TracedOperation[],
      );
      return new WrittenJson(await parts.view(traceId, 'bottlenecks', { baselines }));
    },
    projectTrace: async ({ params, body }) => {
      const changes = body.changes.map(readChange);
      return new WrittenJson(
        await parts.view(params.traceId.toLowerCase(), 'what-if', { changes }),
      );
    },
    compareTraces: async ({ query: { base, other } }) =>
      new WrittenJson(await parts.compare(base.toLowerCase(), other.toLowerCase())),
    compareRanges: async ({ query }) => {
      const ranges = [readRange('base', query.base), readRange('other', query.other)] as const;
      const [base, other] = await Promise.all([parts.windows(ranges[0]), parts.windows(ranges[1])]);
      return windowAnswer(base, other);
    },
  };
}

type AskedChange = Omit<Change, 'extent'> & { readonly extent?: Change['extent'] };

function readChange(change: AskedChange, at: number): Change {
  const { spanId, service, operation, factor, extent = 'whole' } = change;
  const isNamed = service !== undefined || operation !== undefined;
  if ((spanId !== undefined) === isNamed) {
    const detail = { param: `changes/${at}` };
    const message = 'a change names either a spanId, or a service, an operation or both';
    throw new Fault('invalid', message, { detail });
  }
  return { spanId: spanId?.toLowerCase(), service, operation, factor, extent };
}

function readRange(param: 'base' | 'other', text: string): TimeRange {
  const [from, to] = text.split('/').map((time) => Date.parse(time));
  const detail = { param };
  if (from === undefined || to === undefined || Number.isNaN(from - to)) {
    throw new Fault('invalid', `${param} names a time that does not exist`, { detail });
  }
  if (from >= to) throw new Fault('invalid', `${param} ends before it begins`, { detail });
  return { fromUs: from * 1_000, toUs: to * 1_000 };
}
