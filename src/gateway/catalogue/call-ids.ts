import type { Target } from '../providers/provider.ts';
import { bareName } from './model-names.ts';

/** Mistral's models, whose templates refuse other ids wherever they run. */
const picky = /^(?:(?:open-)?mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|voxtral)/;
const pickyLength = 9;

/** How many letters and digits the id of a tool call must have at a target; undefined: any will do. */
export function callIdLengthOf({ provider: { limits, dialect }, model }: Target) {
  if (limits?.callIdLength !== undefined) return limits.callIdLength;
  // Others match calls and results by their names, or have no ids but their own.
  return dialect === 'openai' && picky.test(bareName(model.name)) ? pickyLength : undefined;
}
