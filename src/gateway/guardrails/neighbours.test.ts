import { expect, test } from 'vitest';
import { readConfig } from '../../kit/config.ts';
import type { ChatRequest, Message, UserPart } from '../conversation/request.ts';
import { guardrailSettings } from './guardrail-settings.ts';
import { guardRequest } from './guarding.ts';
import { openGuardrails } from './open-guardrails.ts';

const text = (said: string) => ({ type: 'text', text: said }) as const;
const image: UserPart = { type: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } };

function guard(...messages: readonly Message[]) {
  const { own } = readConfig({ own: guardrailSettings }, { GATEWAY_REDACT: 'all' });
  const request: ChatRequest = { model: 'm', messages, tools: [], isStream: false, extras: {} };
  return guardRequest(openGuardrails(own), request);
}

const partsOf = (...parts: readonly UserPart[]) =>
  guard({ role: 'user', parts }).request.messages[0]?.parts;

test.each([
  [
    ['it is jane@exam', 'ple.com, write'],
    ['it is [EMAIL_1]', ', write'],
  ],
  [['jane@', 'example', '.com'], ['[EMAIL_1]']],
  [
    ['card 4111 1111', ' 1111 1111!'],
    ['card [CARD_1]', '!'],
  ],
  [
    ['a@x.org and b@', 'x.org or c', '@x.org'],
    ['[EMAIL_1] and [EMAIL_2]', ' or [EMAIL_3]'],
  ],
  [['+1 555 01', '0 9999'], ['[PHONE_1]']],
])('personal data across the parts %j of a message is replaced where it begins', (given, sent) => {
  expect(partsOf(...given.map(text))).toEqual(sent.map(text));
});

test('parts that hold all of their data themselves stay apart', () => {
  expect(partsOf(text('ask a@x.org'), text('or b@x.org'))).toEqual([
    text('ask [EMAIL_1]'),
    text('or [EMAIL_2]'),
  ]);
  const parts = [text('jane@exam\n'), text('ple.com'), text('jane@exam'), image, text('ple.com')];
  expect(partsOf(...parts)).toEqual(parts);
});

test('what lies across parts of results is replaced, and put back into the answer', () => {
  const content = [text('it is jane@exam'), text('ple.com')];
  const result = { type: 'tool-result', callId: 'c', content } as const;
  const guarded = guard({ role: 'tool', parts: [result] });
  expect(guarded.request.messages[0]?.parts).toEqual([
    { ...result, content: [text('it is [EMAIL_1]')] },
  ]);
  const answer = {
    id: 'a',
    model: 'm',
    createdAt: 0,
    choices: [{ index: 0, parts: [text('[EMAIL_1]')], finish: 'stop' as const }],
    usage: { inputTokens: 1, outputTokens: 1 },
  };
  expect(guarded.answer?.inspectAnswer(answer).choices[0]?.parts).toEqual([
    text('jane@example.com'),
  ]);
});
