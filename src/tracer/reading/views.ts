import { explainPairViews, explainViews, type ExplainInputs } from '../explain/views.ts';
import { interopViews, type JaegerInputs } from '../interop/views.ts';
import { otlpJsonOf } from '../otlp/to-json.ts';
import { criticalPathView, type CriticalPathInput } from '../trace/views/critical-path-view.ts';
import { detailView, type DetailInput } from '../trace/views/detail-view.ts';
import type { StoredTrace, View } from './view.ts';

/** What each view of one trace is asked with. */
export interface ViewInputs extends ExplainInputs, JaegerInputs {
  readonly detail: DetailInput;
  readonly criticalPath: CriticalPathInput;
  readonly otlp: undefined;
}

export type ViewName = keyof ViewInputs;

type Views = { readonly [Name in ViewName]: View<ViewInputs[Name]> };

const views: Views = {
  detail: detailView,
  criticalPath: criticalPathView,
  otlp: ({ bodies, traceId }) => otlpJsonOf(bodies, traceId),
  ...explainViews,
  ...interopViews,
};

/** The view of that name; its input is what was asked for, on the other side of the thread. */
export function viewNamed(name: ViewName): View<unknown> {
  return views[name] as View<unknown>;
}

/** What is said of two traces: the base first, then the other. */
export const pairViews: Readonly<
  Record<PairViewName, (base: StoredTrace, other: StoredTrace) => unknown>
> = explainPairViews;

export type PairViewName = keyof typeof explainPairViews;
