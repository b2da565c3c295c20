import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig, type Environment } from '../../kit/config.ts';
import { Fault } from '../../kit/errors.ts';
import type { Answer, AnswerEvent } from '../conversation/answer.ts';
import type { AssistantPart, ChatRequest, Message } from '../conversation/request.ts';
import { embeddingErrand } from '../exchange/errands/embedding.ts';
import { imageErrand } from '../exchange/errands/image.ts';
import { guardrailSettings } from './guardrail-settings.ts';
import { guardRequest, type GuardedRequest } from './guarding.ts';
import { openGuardrails } from './open-guardrails.ts';

const folder = mkdtempSync(join(tmpdir(), 'ennead-guardrails-'));
afterAll(() => rmSync(folder, { recursive: true }));

function open(environment: Environment) {
  return openGuardrails(readConfig({ own: guardrailSettings }, environment).own);
}

function guard(environment: Environment, request: ChatRequest): GuardedRequest {
  return guardRequest(open(environment), request);
}

function requestOf(...messages: readonly Message[]): ChatRequest {
  return { model: 'small', messages, tools: [], isStream: false, extras: {} };
}

function asked(text: string): ChatRequest {
  return requestOf({ role: 'user', parts: [{ type: 'text', text }] });
}

function answerOf(...parts: readonly AssistantPart[]): Answer {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const choices = [{ index: 0, parts, finish: 'stop' as const }];
  return { id: 'a', model: 'small', createdAt: 0, choices, usage };
}

function faultOf(action: () => unknown): Fault {
  try {
    action();
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  throw new Error('nothing was refused');
}

const sentText = ({ request }: GuardedRequest) => {
  const [part] = request.messages[0]?.parts ?? [];
  return part && 'text' in part ? part.text : undefined;
};

test('a deny-list that cannot be read or used keeps the gateway from starting', () => {
  const missing = join(folder, 'missing.txt');
  expect(faultOf(() => open({ GATEWAY_DENY_FILE: missing })).message).toContain('cannot be read');
  const file = join(folder, 'bad.txt');
  writeFileSync(file, 'fine\nback: /(a)\\1/\n');
  const fault = faultOf(() => open({ GATEWAY_DENY_FILE: file }));
  expect([fault.reason, fault.message]).toEqual([
    'bad_setting',
    `the deny-list's rule "back" cannot be used: it refers back to a group`,
  ]);
});

const denied = { GATEWAY_DENY_WORDS: 'Project Falcon, C++ , .env' };

test.each([
  ['tell me of project  falcon', 'Project Falcon'],
  ['PROJECT\nFALCON!', 'Project Falcon'],
  ['ｐｒｏｊｅｃｔ fal\u200Bcon', 'Project Falcon'],
  ['written in c++', 'C++'],
  ['show /srv/.env please', '.env'],
])('%j is refused by the rule %s', (text, rule) => {
  const fault = faultOf(() => guard(denied, asked(text)));
  expect([fault.status, fault.reason, fault.detail]).toEqual([
    400,
    'guardrail_refused',
    { guardrail: 'deny-list', rule, param: 'messages' },
  ]);
  expect(fault.message).toContain(rule);
});

test.each(['my project, falconry', 'projectfalcon', 'c plus plus'])('%j is let through', (text) => {
  const request = asked(text);
  expect(guard(denied, request)).toEqual({ request, answer: undefined });
});

test('a denied text is found wherever a provider would read it', () => {
  const file = join(folder, 'rules.txt');
  writeFileSync(file, '# tickets\n\nticket: /\\bSEC-\\d{4,6}\\b/\r\nplain phrase\n');
  const text = 'see SEC-12345';
  const requests: ChatRequest[] = [
    requestOf({ role: 'system', parts: [{ type: 'text', text }] }),
    requestOf({
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c', name: 'f', arguments: '{"a":["SEC-\\u00312345"]}' }],
    }),
    requestOf({
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'c', content: [{ type: 'text', text }] }],
    }),
    requestOf({ role: 'assistant', parts: [{ type: 'reasoning', text, signature: 's' }] }),
    { ...asked('fine'), tools: [{ name: 'f', description: text, parameters: {} }] },
    {
      ...asked('fine'),
      tools: [{ name: 'f', parameters: { properties: { a: { enum: [text] } } } }],
    },
    { ...asked('fine'), output: { type: 'schema', name: 'o', schema: { title: text } } },
    { ...asked('fine'), extras: { prediction: { content: text } } },
    { ...asked('fine'), extras: { 'SEC-12345': true } },
    { ...asked('fine'), stop: ['stop', text] },
    { ...asked('fine'), tools: [{ name: 'SEC-12345', parameters: {} }] },
    { ...asked('fine'), toolChoice: { name: 'SEC-12345' } },
    {
      ...asked('fine'),
      tools: [{ name: 'f', parameters: { properties: { 'SEC-12345': { type: 'string' } } } }],
    },
    {
      ...asked('fine'),
      tools: [{ name: 'f', parameters: { properties: { a: { description: text } } } }],
    },
    { ...asked('fine'), output: { type: 'schema', name: 'SEC-12345', schema: {} } },
    { ...asked('fine'), output: { type: 'schema', name: 'o', schema: {}, description: text } },
    {
      ...asked('fine'),
      output: { type: 'schema', name: 'o', schema: { properties: { 'SEC-12345': {} } } },
    },
    requestOf({ role: 'user', name: 'SEC-12345', parts: [] }),
    requestOf({
      role: 'user',
      parts: [
        { type: 'text', text: 'see SEC-1' },
        { type: 'text', text: '2345' },
      ],
    }),
    requestOf({
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c', name: 'SEC-12345', arguments: '{}' }],
    }),
  ];
  for (const request of requests) {
    const fault = faultOf(() => guard({ GATEWAY_DENY_FILE: file }, request));
    expect(fault.detail['rule']).toBe('ticket');
  }
});

test('a request or an answer that is too long is refused', () => {
  const sizes = { GATEWAY_REQUEST_CHARS_MAX: '10', GATEWAY_ANSWER_CHARS_MAX: '5' };
  const fault = faultOf(() => guard(sizes, asked('x'.repeat(11))));
  expect([fault.status, fault.reason, fault.detail['rule']]).toEqual([
    400,
    'guardrail_refused',
    'request',
  ]);
  const { answer } = guard(sizes, asked('x'.repeat(10)));
  const fits = answerOf({ type: 'text', text: '12345' });
  expect(answer?.inspectAnswer(fits)).toEqual(fits);
  const long = answerOf(...fits.choices[0]!.parts, { type: 'refusal', text: '6' });
  expect(faultOf(() => answer?.inspectAnswer(long)).detail['rule']).toBe('answer');
  const stream = answer!.openStream();
  expect(stream.see({ type: 'text', choice: 0, text: '123' })).toHaveLength(1);
  expect(faultOf(() => stream.see({ type: 'text', choice: 1, text: '456' })).status).toBe(400);
});

test('nothing is looked at when nothing is set', () => {
  expect(open({})).toEqual([]);
  const request = asked('jane@example.com');
  expect(guardRequest([], request).request).toBe(request);
});

const all = { GATEWAY_REDACT: 'all' };

test.each([
  'mail me at @home or a@b',
  'order 4111111111111112 and 1234567812345678',
  'DE00370400440532013000 is no account',
  'version 1.2.3 and 1.2.3.4.5 and 300.1.1.1',
  'on 01-02-2024 or 2024-01-02, 12:30',
  'it costs 1 000 000 or 1,234,567.89',
  'id 550e8400-e29b-41d4-a716-446655440000',
  'unix 1767225600 and 1767225600000',
])('%j holds no personal data', (text) => {
  const request = asked(text);
  expect(guard(all, request).request).toBe(request);
});

test.each([
  ['write to jane.doe+x@mail.example.org.', 'write to [EMAIL_1].'],
  ['<jürgen@bücher.example>', '<[EMAIL_1]>'],
  ['pay DE89 3704 0044 0532 0130 00 AND go', 'pay [IBAN_1] AND go'],
  ['pay gb82WEST12345698765432', 'pay [IBAN_1]'],
  ['card 4111-1111-1111-1111 123', 'card [CARD_1] 123'],
  ['amex 378282246310005!', 'amex [CARD_1]!'],
  ['from 192.168.10.200.', 'from [IPV4_1].'],
  ['call +49 (0)30 901820 now', 'call [PHONE_1] now'],
  ['call 030/901820-55', 'call [PHONE_1]'],
  ['call (555) 010-9999', 'call [PHONE_1]'],
  ['4111111111111111 4242424242424242', '[CARD_1] [CARD_2]'],
  ['4111 1111 1111 1111 4242 4242 4242 4242', '[CARD_1] [CARD_2]'],
  ['cards: 4111111111111111 5555555555554444 378282246310005', 'cards: [CARD_1] [CARD_2] [CARD_3]'],
  ['2 4111 1111 1111 1111', '2 [CARD_1]'],
  ['4111111111111111123', '[CARD_1]123'],
  ['DE89370400440532013000 GB82WEST12345698765432', '[IBAN_1] [IBAN_2]'],
  ['GB82 WEST 1234 5698 7654 32 and FR14 2004 1010 0505 0001 3M02 606', '[IBAN_1] and [IBAN_2]'],
  ['DE00370400440532013000 GB82WEST12345698765432', 'DE00370400440532013000 [IBAN_1]'],
  ['+1-202-555-0143 0171 1234567', '[PHONE_1] [PHONE_2]'],
  ['030 123456 030 654321', '[PHONE_1] [PHONE_2]'],
  ['+44 20 7946 0958', '[PHONE_1]'],
  ['555-010-9999 555-010-8888', '[PHONE_1] [PHONE_2]'],
  ['+49 170 1234567 (555) 010-9999 555-010-9998', '[PHONE_1] [PHONE_2] [PHONE_3]'],
  ['01/02/2024 0171 1234567', '01/02/2024 [PHONE_1]'],
])('%j goes out as %j', (text, expected) => {
  const guarded = guard(all, asked(text));
  expect(sentText(guarded)).toBe(expected);
  const answer = answerOf({ type: 'text', text: expected });
  expect(guarded.answer?.inspectAnswer(answer)).toEqual(answerOf({ type: 'text', text }));
});

test('only the kinds asked for are replaced', () => {
  const text = 'a@example.com from 10.0.0.1';
  expect(sentText(guard({ GATEWAY_REDACT: ' ipv4, card' }, asked(text)))).toBe(
    'a@example.com from [IPV4_1]',
  );
  expect(() => open({ GATEWAY_REDACT: 'names' })).toThrow(/GATEWAY_REDACT/);
});

test('the same value gets the same placeholder, and one that the caller wrote is left alone', () => {
  const text = '[EMAIL_1] is a@x.org, b@x.org, a@x.org';
  const guarded = guard(all, asked(text));
  expect(sentText(guarded)).toBe('[EMAIL_1] is [EMAIL_2], [EMAIL_3], [EMAIL_2]');
  const back = answerOf({ type: 'text', text: '[EMAIL_1] [EMAIL_2] [EMAIL_9]' });
  expect(guarded.answer?.inspectAnswer(back).choices[0]?.parts).toEqual([
    { type: 'text', text: '[EMAIL_1] a@x.org [EMAIL_9]' },
  ]);
});

test('arguments of calls stay JSON, and signed reasoning stays as it is', () => {
  const request = requestOf(
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'ask a@x.org', signature: 's' },
        {
          type: 'tool-call',
          id: 'c',
          name: 'pay',
          arguments: '{"to":"a@x.org","b@x.org":4111111111111111,"sum":10}',
        },
      ],
    },
    {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'c', content: [{ type: 'text', text: 'a@x.org' }] }],
    },
  );
  const guarded = guard(all, request);
  expect(guarded.request.messages).toMatchObject([
    {
      parts: [
        { text: 'ask a@x.org' },
        { arguments: '{"to":"[EMAIL_1]","[EMAIL_2]":"[CARD_1]","sum":10}' },
      ],
    },
    { parts: [{ content: [{ text: '[EMAIL_1]' }] }] },
  ]);
  const reasoning = { type: 'reasoning', text: 'tell [EMAIL_1]', signature: 't' } as const;
  const call = { type: 'tool-call', id: 'd', name: 'f', arguments: '{"to":"[EMAIL_1]"}' } as const;
  expect(guarded.answer?.inspectAnswer(answerOf(reasoning, call)).choices[0]?.parts).toEqual([
    reasoning,
    { ...call, arguments: '{"to":"a@x.org"}' },
  ]);
});

/** What a caller reads of a stream that comes in pieces of so many characters. */
function streamed(guarded: GuardedRequest, text: string, size: number): readonly AnswerEvent[] {
  const stream = guarded.answer!.openStream();
  const events: AnswerEvent[] = [];
  for (let at = 0; at < text.length; at += size) {
    events.push(...stream.see({ type: 'text', choice: 0, text: text.slice(at, at + size) }));
  }
  events.push(...stream.see({ type: 'finish', choice: 0, finish: 'stop' }));
  return [...events, ...stream.see({ type: 'end' })];
}

test('a streamed answer gets its data back however it is cut', () => {
  const guarded = guard(all, asked('jane@example.com calls +1 555 010 9999'));
  const text = 'Dear [EMAIL_1], [PHONE_1] [E[EMAIL_1] [PHONE [EMAIL_77] x[0] [';
  const expected =
    'Dear jane@example.com, +1 555 010 9999 [Ejane@example.com [PHONE [EMAIL_77] x[0] [';
  for (let size = 1; size < 20; size += 1) {
    const events = streamed(guarded, text, size);
    const read = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    expect([size, read]).toEqual([size, expected]);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['finish', 'end']);
  }
});

test.each([
  ['EMAIL', 'a@x.org'],
  ['IBAN', 'GB82 WEST 1234 5698 7654 32'],
  ['CARD', '4111 1111 1111 1111'],
  ['IPV4', '192.168.1.254'],
  ['PHONE', '+1 555 010 9999'],
])('a placeholder of %s may be cut anywhere', (name, value) => {
  const guarded = guard(all, asked(`it is ${value}.`));
  for (let size = 1; size < name.length + 4; size += 1) {
    const events = streamed(guarded, `[${name}_1]`, size);
    const read = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    expect([size, read]).toEqual([size, value]);
  }
});

test('at most the start of a placeholder is held back', () => {
  const stream = guard(all, asked('a@x.org')).answer!.openStream();
  const see = (text: string) => stream.see({ type: 'text', choice: 0, text });
  expect(see('a list[x and [EMA')).toEqual([{ type: 'text', choice: 0, text: 'a list[x and ' }]);
  expect(see('IL_1')).toEqual([]);
  expect(see('x')).toEqual([{ type: 'text', choice: 0, text: '[EMAIL_1x' }]);
  expect(see('[EMAIL')).toEqual([]);
  expect(stream.see({ type: 'tool-call', choice: 0, call: 0, arguments: '{"a":"[EM' })).toEqual([
    { type: 'text', choice: 0, text: '[EMAIL' },
    { type: 'tool-call', choice: 0, call: 0, arguments: '{"a":"' },
  ]);
  expect(
    stream.see({ type: 'tool-call', choice: 0, call: 0, arguments: 'AIL_1]"}' }),
  ).toMatchObject([{ arguments: 'a@x.org"}' }]);
});

test('choices of one stream do not mix', () => {
  const stream = guard(all, asked('a@x.org')).answer!.openStream();
  expect(stream.see({ type: 'text', choice: 0, text: '[EMAIL' })).toEqual([]);
  expect(stream.see({ type: 'text', choice: 10, text: '_1]' })).toMatchObject([{ text: '_1]' }]);
  expect(stream.see({ type: 'finish', choice: 10, finish: 'stop' })).toHaveLength(1);
  expect(stream.see({ type: 'text', choice: 0, text: '_1]' })).toMatchObject([{ text: 'a@x.org' }]);
});

test('finding personal data takes linear time', () => {
  const texts = ['a.', '1 ', '+1', 'a@', 'a@a.', 'DE11 ', '1.', '4-', '[EMAIL_'];
  const startedAt = process.cpuUsage();
  for (const text of texts) guard(all, asked(text.repeat(100_000)));
  expect(process.cpuUsage(startedAt).user).toBeLessThan(10_000_000);
});

test('texts that are to become vectors go through the same rules', () => {
  const { guard: guardTexts } = embeddingErrand;
  const request = { model: 'e', input: ['a@x.org', [1, 2], 'b@x.org a@x.org'], extras: {} };
  expect(guardTexts(open(all), request).input).toEqual([
    '[EMAIL_1]',
    [1, 2],
    '[EMAIL_2] [EMAIL_1]',
  ]);
  expect(guardTexts(open({ GATEWAY_REDACT: 'card' }), request)).toBe(request);
  expect(guardTexts([], request)).toBe(request);
  const fault = faultOf(() => guardTexts(open({ GATEWAY_DENY_WORDS: 'x.org' }), request));
  expect(fault.reason).toBe('guardrail_refused');
});

test('prompts of pictures go through the same rules', () => {
  const { guard: guardPrompt } = imageErrand;
  const request = { model: 'p', prompt: 'a card for a@x.org', options: { user: 'b@x.org' } };
  const guarded = guardPrompt(open(all), request);
  expect(guarded).toMatchObject({ prompt: 'a card for [EMAIL_1]', options: { user: '[EMAIL_2]' } });
  expect(guardPrompt(open({ GATEWAY_REDACT: 'card' }), request)).toBe(request);
  const fault = faultOf(() => guardPrompt(open({ GATEWAY_DENY_WORDS: 'x.org' }), request));
  expect(fault.reason).toBe('guardrail_refused');
});

test('arguments that are nested without end are refused', () => {
  const nested = '['.repeat(5_000) + ']'.repeat(5_000);
  const part = { type: 'tool-call', id: 'c', name: 'f', arguments: nested } as const;
  const fault = faultOf(() => guard(all, requestOf({ role: 'assistant', parts: [part] })));
  expect(fault.code).toBe('invalid');
});
