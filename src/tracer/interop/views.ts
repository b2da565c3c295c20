import { jaegerView } from './jaeger-view.ts';
import { jaegerMatchView, type SpanCriteria } from './matches-view.ts';

/** The views of this folder, for the reading thread. */
export const interopViews = { jaeger: jaegerView, 'jaeger-match': jaegerMatchView } as const;

/** What each of them is asked with. */
export interface JaegerInputs {
  readonly jaeger: undefined;
  readonly 'jaeger-match': SpanCriteria;
}
