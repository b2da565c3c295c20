import { bareText, secretPairName } from './body-credentials.ts';
import { forbiddenKeys } from '../flow/limits.ts';
import { isSecretName, withoutCredentials } from './credentials.ts';
import { isFields, type Fields } from './fields.ts';

/** Characters of JSON that are kept of one step. */
const keptLengthMax = 32_768;
const depthMax = 12;

/**
 * What is kept of a foreign step's settings for whoever replaces it: without secrets, without program
 * text that was only carried along, and not more than a node may hold.
 */
export function keepSettings(value: unknown): unknown {
  const kept = keep(value, 0);
  const length = JSON.stringify(kept ?? null).length;
  return length > keptLengthMax ? { leftOut: `${length} characters of settings` } : kept;
}

function keep(value: unknown, depth: number): unknown {
  if (depth > depthMax) return '…';
  if (Array.isArray(value)) return value.map((one: unknown) => keep(one, depth + 1));
  if (typeof value === 'string') return withoutCredentials(bareText(value));
  if (!isFields(value)) return value;
  return keepFields(value, depth);
}

function keepFields(fields: Fields, depth: number): Fields {
  const isSecretPair = secretPairName(fields) !== undefined;
  const kept = Object.entries(fields)
    .filter(([name]) => !forbiddenKeys.has(name))
    .map(([name, value]) => {
      const isSecret = isSecretName(name) || (isSecretPair && name === 'value');
      const isHidden = isSecret && value !== '' && value !== undefined && value !== null;
      return [name, isHidden ? '(left out)' : keep(value, depth + 1)] as const;
    });
  return Object.fromEntries(kept);
}
