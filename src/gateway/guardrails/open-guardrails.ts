import { readFileSync } from 'node:fs';
import { Fault } from '../../kit/errors.ts';
import { DenyList, fileRules, wordRules } from './deny-list.ts';
import type { GuardrailConfig } from './guardrail-settings.ts';
import type { Guardrail } from './guardrail.ts';
import { personalDataKinds } from './personal-data.ts';
import { Redactor } from './redactor.ts';
import { SizeLimit } from './size-limit.ts';

/**
 * The guardrails that the settings ask for, in their order; none by default. Throws `invalid`
 * (`bad_setting`) for a file that cannot be read or a pattern that cannot be used.
 */
export function openGuardrails(config: GuardrailConfig): readonly Guardrail[] {
  const guardrails: Guardrail[] = [];
  if (config.requestCharsMax !== undefined || config.answerCharsMax !== undefined) {
    guardrails.push(new SizeLimit(config));
  }
  const rules = [...wordRules(config.denyWords), ...fileRules(readDenyFile(config.denyFile))];
  if (rules.length > 0) guardrails.push(new DenyList(rules));
  const asked = new Set(config.redact.split(',').map((kind) => kind.trim()));
  const kinds = personalDataKinds.filter((kind) => asked.has(kind) || asked.has('all'));
  if (kinds.length > 0) guardrails.push(new Redactor(kinds));
  return guardrails;
}

function readDenyFile(path: string | undefined): string {
  if (path === undefined) return '';
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Fault('invalid', `GATEWAY_DENY_FILE: ${path} cannot be read`, {
      reason: 'bad_setting',
      cause,
    });
  }
}
