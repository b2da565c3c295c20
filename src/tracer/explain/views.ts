import { bottlenecksView, operationsView, type BottlenecksInput } from './bottlenecks-view.ts';
import { compareView } from './compare-view.ts';
import { whatIfView, type WhatIfInput } from './what-if-view.ts';

/** The views of this folder, for the reading thread. */
export const explainViews = {
  operations: operationsView,
  bottlenecks: bottlenecksView,
  'what-if': whatIfView,
} as const;

/** Those of two traces: the base first, then the other. */
export const explainPairViews = { compare: compareView } as const;

/** What each view of one trace is asked with. */
export interface ExplainInputs {
  readonly operations: undefined;
  readonly bottlenecks: BottlenecksInput;
  readonly 'what-if': WhatIfInput;
}
