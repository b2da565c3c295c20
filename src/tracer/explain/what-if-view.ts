import type { View } from '../reading/view.ts';
import type { WhatIfAnswer } from '../schemas/explain-answers.ts';
import { toMs } from '../trace/shares.ts';
import { study } from '../trace/study.ts';
import type { SpanTree } from '../trace/tree.ts';
import { pathTimes, type PathTimes } from './path-times.ts';
import { percentOf } from './rounding.ts';
import { projectChanges } from './what-if.ts';
import type { Change } from './what-if-steps.ts';

export interface WhatIfInput {
  readonly changes: readonly Change[];
}

const pathMax = 20;

/** How long a trace would have taken, and what it would then be waiting for. */
export const whatIfView: View<WhatIfInput> = (trace, { changes }) => {
  const { tree, path } = study(trace.spans);
  const { totalUs, projectedUs, matches, onPath } = projectChanges(tree, path, changes);
  return {
    traceId: trace.traceId,
    totalDuration: toMs(totalUs),
    projectedDuration: toMs(projectedUs),
    saving: toMs(totalUs) - toMs(projectedUs),
    percentSaved: percentOf(totalUs - projectedUs, totalUs),
    changes: changes.map((change, at) => ({ ...withoutAbsent(change), spans: matches[at] ?? 0 })),
    criticalPath: pathEntries(tree, pathTimes(path.sections), onPath),
  } satisfies WhatIfAnswer;
};

function withoutAbsent({ spanId, service, operation, factor, extent }: Change) {
  return {
    ...(spanId === undefined ? {} : { spanId }),
    ...(service === undefined ? {} : { service }),
    ...(operation === undefined ? {} : { operation }),
    factor,
    extent,
  };
}

/** The spans that take most of the projected path, the most first. */
function pathEntries(tree: SpanTree, was: PathTimes, is: PathTimes) {
  return [...is]
    .filter(([, us]) => us > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, pathMax)
    .flatMap(([spanId, us]) => {
      const span = tree.byId.get(spanId)?.span;
      if (!span) return [];
      const { name, service, agent } = span;
      const duration = toMs(was.get(spanId) ?? 0);
      return [{ spanId, name, service, agent, duration, projectedDuration: toMs(us) }];
    });
}
