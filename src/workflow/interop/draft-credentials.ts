import { bareBody } from './body-credentials.ts';
import { isLiteral, isSecretParameter, withoutCredentials } from './credentials.ts';
import type { Draft, DraftNode, DraftStep } from './draft.ts';
import { isFields, type Fields } from './fields.ts';

/** A draft without the credentials that lie in addresses, their parameters and bodies; its steps say so. */
export function bareDraft(draft: Draft): Draft {
  const steps = draft.steps.map(bareStep);
  return {
    ...draft,
    steps: steps.map(({ step }) => step),
    warnings: [...draft.warnings, ...steps.flatMap(({ warning }) => warning ?? [])],
  };
}

const addressNote = 'a secret in an address was left out: add it yourself';

function bareStep(given: DraftStep): { readonly step: DraftStep; readonly warning?: string } {
  const { status, settings, source, node } = given;
  const said = given.note === undefined ? [] : [withoutCredentials(given.note)];
  const known = { ...given, note: said[0], settings: bare(settings) };
  if (!node) return { step: known };
  const { data, names, notes } = bareData(node);
  if (notes.length === 0) return { step: known };
  const told = { ...known, node: { ...node, data } };
  // Of a Placeholder everybody knows that it is no more than a reminder.
  if (status === 'unsupported') return { step: told };
  const step = { ...told, status: 'adapted', note: [...said, ...notes].join('; ') } as const;
  return names.length > 0 ? { step, warning: `${source}: ${bodyNote(names)}` } : { step };
}

function bodyNote(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name));
  const what = `${shown.join(', ')} in its body ${names.length > 1 ? 'were' : 'was'} left out`;
  return `${what}, as a body is not sealed: send it in a header, or fill it in with a placeholder`;
}

function bareData({ type, data }: DraftNode): {
  readonly data: DraftNode['data'];
  /** Of the secrets in its body. */
  readonly names: readonly string[];
  readonly notes: readonly string[];
} {
  const hasBody = type === 'HttpRequest' && data['body'] !== undefined;
  // Before what looks like an address: a form has no parameters, and each of its secrets is named.
  const { body, names } = bareBody(hasBody ? data['body'] : undefined);
  const known = hasBody ? { ...data, body } : data;
  const bared = Object.entries(known).map(([name, value]) => {
    const isQuery = name === 'query' && isFields(value);
    return [name, isQuery ? bareQuery(value) : bare(value)] as const;
  });
  const fields = Object.fromEntries(bared);
  const hasAddress = JSON.stringify(fields) !== JSON.stringify(known);
  const notes = [
    ...(hasAddress ? [addressNote] : []),
    ...(names.length > 0 ? [bodyNote(names)] : []),
  ];
  return { data: fields, names, notes };
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
