import type { FlowSettings } from '../../flow/flow.ts';
import { numberOf, textOf, type Fields } from '../fields.ts';

/** What a workflow of n8n says of its executions as a whole. */
export interface WholeSettings {
  readonly settings?: FlowSettings;
  readonly warnings: readonly string[];
}

/** Told of by name, as a trigger has them here, or a callback. */
const elsewhere: Readonly<Record<string, string>> = {
  errorWorkflow: 'give `callbacks.onError` with the start',
  timezone: 'say it in `timeZone` of a schedule',
};

/** Its time limit, of seconds (none where it is below 1); the rest that changes what it does is told. */
export function readWhole(given: Fields): WholeSettings {
  const seconds = numberOf(given['executionTimeout']) ?? 0;
  const warnings = Object.entries(elsewhere)
    .filter(([name]) => !['', 'DEFAULT'].includes(textOf(given[name])))
    .map(([name, hint]) => `its setting ${JSON.stringify(name)} is left out: ${hint}`);
  return {
    ...(seconds >= 1 ? { settings: { timeout: Math.round(seconds * 1_000) } } : {}),
    warnings,
  };
}
