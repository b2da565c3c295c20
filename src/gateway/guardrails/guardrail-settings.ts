import { Type } from 'typebox';
import { setting, settingOr, type ConfigOf, type Settings } from '../../kit/config.ts';

const Chars = Type.Integer({ minimum: 1 });

/** The settings of the guardrails, all of them off by default. */
export const guardrailSettings = {
  requestCharsMax: setting(
    'GATEWAY_REQUEST_CHARS_MAX',
    Chars,
    'characters of text that a request may have',
  ),
  answerCharsMax: setting(
    'GATEWAY_ANSWER_CHARS_MAX',
    Chars,
    'characters of text that an answer may have; a longer one is refused, a stream ends with an error',
  ),
  denyWords: settingOr(
    'GATEWAY_DENY_WORDS',
    { schema: Type.String(), or: '' },
    'words and phrases, separated by commas, that no request may hold, e.g. `project falcon, codename x`',
  ),
  denyFile: setting(
    'GATEWAY_DENY_FILE',
    Type.String({ minLength: 1 }),
    'file of what no request may hold, a word, phrase or `name: /regular expression/` a line, e.g. `ticket: /\\bSEC-\\d{4,6}\\b/`',
  ),
  redact: settingOr(
    'GATEWAY_REDACT',
    { schema: Type.String({ pattern: '^( *(email|iban|card|ipv4|phone|all) *(,|$))*$' }), or: '' },
    'personal data that providers get placeholders for, put back in answers: `all`, or of email, iban, card, ipv4, phone, separated by commas, e.g. `email,card`',
  ),
} satisfies Settings;

export type GuardrailConfig = ConfigOf<typeof guardrailSettings>;
