import type { FlowSettings } from '../../flow/flow.ts';
import { fieldsOf, present, textOf, valueAt, type Fields } from '../fields.ts';
import type { DataPlace } from '../paths.ts';
import { translateAs } from '../translation.ts';
import { placeOfJq } from './jq.ts';
import type { Sections } from './sections.ts';
import { ownMetadata, timeoutOf } from './tasks.ts';

/** What the first task sees: the inputs, or what the workflow takes from them. */
export function inputsOf(document: Fields, sections: Pick<Sections, 'note'>): DataPlace {
  const whole: DataPlace = { root: 'inputs', steps: [] };
  const { from } = fieldsOf(document['input']);
  if (from === undefined) return whole;
  const place = translateAs(() => placeOfJq(textOf(from), { own: whole, variables: {} }));
  if (place) return place;
  const note = 'what it takes from the input is more than a path: the whole input is taken';
  sections.note('input', { type: 'input', status: 'unsupported', note });
  return whole;
}

/**
 * Bounds of the whole: its timeout, and those that our own exports keep in their metadata, as the
 * language has no words for them; undefined where there are none.
 */
export function settingsOf({ document, timeout }: Fields, use: Fields): FlowSettings | undefined {
  const kept = valueAt(document, 'metadata', ownMetadata, 'settings');
  const { maxTokens, maxCost } = fieldsOf(kept);
  const settings = present({
    timeout: timeoutOf(timeout, use),
    maxTokens: Number.isInteger(maxTokens) ? positive(maxTokens) : undefined,
    maxCost: positive(maxCost),
  });
  return Object.keys(settings).length > 0 ? settings : undefined;
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined;
}

/** Says what of the document's head has no counterpart; answers warnings. */
export function noteHead(
  { evaluate, input, output, schedule, timeout }: Fields,
  use: Fields,
  sections: Pick<Sections, 'note'>,
): readonly string[] {
  if (fieldsOf(output)['as'] !== undefined) {
    const note = 'a workflow gives the outputs of its last steps by their names';
    sections.note('output', { type: 'output', status: 'unsupported', note });
  }
  for (const [name, { schema }] of Object.entries({
    input: fieldsOf(input),
    output: fieldsOf(output),
  })) {
    if (schema === undefined) continue;
    const note = `its schema is left out: every ${name} is right`;
    sections.note(`${name} (schema)`, { type: name, status: 'adapted', note });
  }
  const { language = 'jq', mode = 'strict' } = fieldsOf(evaluate);
  if (language !== 'jq' || mode !== 'strict') {
    const note = 'expressions are jq between ${ and }; all other texts stay as they are';
    sections.note('evaluate', { type: 'evaluate', status: 'unsupported', note });
  }
  if (timeout !== undefined && timeoutOf(timeout, use) === undefined) {
    const note = 'its timeout is no fixed one';
    sections.note('timeout', { type: 'timeout', status: 'unsupported', note });
  }
  if (schedule === undefined) return [];
  const cron = textOf(fieldsOf(schedule)['cron']);
  const note = `make a trigger of the workflow${cron && `: a schedule with cron ${cron}`}`;
  sections.note('schedule', { type: 'schedule', status: 'adapted', note });
  return [`its schedule is left out: ${note}`];
}
