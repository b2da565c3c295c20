import { isLiteral, isSecretParameter, withoutCredentials } from './credentials.ts';
import type { Draft, DraftNode, DraftStep } from './draft.ts';
import { isFields, type Fields } from './fields.ts';

/** A draft without the credentials that lie in addresses and their parameters; its steps say so. */
export function bareDraft(draft: Draft): Draft {
  return { ...draft, steps: draft.steps.map(bareStep) };
}

const note = 'a secret in an address was left out: add it yourself';

function bareStep(step: DraftStep): DraftStep {
  const { node, status, settings } = step;
  const said = step.note === undefined ? [] : [withoutCredentials(step.note)];
  const known = { ...step, note: said[0], settings: bare(settings) };
  if (!node) return known;
  const data = bareData(node);
  const isSame = JSON.stringify(data) === JSON.stringify(node.data);
  if (isSame) return known;
  const told = { ...known, node: { ...node, data } };
  // Of a Placeholder everybody knows that it is no more than a reminder.
  if (status === 'unsupported') return told;
  return { ...told, status: 'adapted', note: [...said, note].join('; ') };
}

function bareData({ data }: DraftNode): DraftNode['data'] {
  const { query, ...rest } = data;
  const bared = bareFields(rest);
  if (query === undefined) return bared;
  return { ...bared, query: isFields(query) ? bareQuery(query) : bare(query) };
}

/** Parameters of an address by name. */
function bareQuery(query: Fields): Fields {
  const pairs = Object.entries(query).map(([name, value]) => {
    const isSecret = isSecretParameter(name) && (typeof value !== 'string' || isLiteral(value));
    return [name, isSecret ? '' : bare(value)] as const;
  });
  return Object.fromEntries(pairs);
}

function bareFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, bare(value)]));
}

function bare(value: unknown): unknown {
  if (typeof value === 'string') return withoutCredentials(value);
  if (Array.isArray(value)) return value.map(bare);
  return isFields(value) ? bareFields(value) : value;
}
