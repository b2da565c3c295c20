import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  openAiChunk,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../../testing.ts';

let first: ScriptedProvider;
let second: ScriptedProvider;
let third: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

const claude = 'claude-3-5-haiku-latest';
const prices = { inputCostPerMToken: 1000, outputCostPerMToken: 2000 };

beforeAll(async () => {
  [first, second, third] = await Promise.all([startProvider(), startProvider(), startProvider()]);
  gateway = await startGateway();
});

// Settings that are put anew clear the circuits that streams before have opened.
beforeEach(async () => {
  const putClaude = (name: string, { url }: ScriptedProvider) =>
    gateway.put(name, {
      dialect: 'anthropic',
      baseUrl: `${url}/v1`,
      models: [{ name: claude, capabilities: ['chat'], ...prices }],
    });
  const models = [{ name: 'm', capabilities: ['chat'], ...prices }];
  await gateway.put('one', { dialect: 'openai', baseUrl: `${first.url}/v1`, models });
  await putClaude('two', second);
  await putClaude('three', third);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const provider of [first, second, third]) await provider[Symbol.asyncDispose]();
});

const event = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const usage = { input_tokens: 20, output_tokens: 1 };
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };

/** Anthropic's stream as far as its first text. */
const begun = (text: string) => [
  event('message_start', { message }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
];

const whole = (text: string) => [
  ...begun(text),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }),
  event('message_stop', {}),
];

let callers = 0;

async function askAs(fields: object) {
  const subject = `usr_continued_${(callers += 1)}`;
  const token = await gateway.issuer.sign({ sub: subject });
  const ask = (signal?: AbortSignal) =>
    fetch(`${gateway.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'one/m',
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 50,
        messages: [{ role: 'user', content: 'x' }],
        ...fields,
      }),
      ...(signal && { signal }),
    });
  const spend = async () => {
    const query = `groupBy=provider&subject=${subject}`;
    return (await gateway.asAdmin('GET', `/api/v1/spend?${query}`)).body;
  };
  return { ask, spend };
}

function textOf(streamed: string): string {
  return [...streamed.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join('');
}

function usageOf(streamed: string) {
  const found = /"usage":(\{"cost".*?\}\})/.exec(streamed);
  return JSON.parse(found?.[1] ?? '{}') as Readonly<Record<string, number>>;
}

async function costs(): Promise<number[]> {
  const { text } = await gateway.asAdmin('GET', '/api/v1/metrics');
  return ['one', 'two', 'three'].map((name) => {
    const line = text
      .split('\n')
      .find((one) => one.startsWith(`gateway_cost_dollars{provider="${name}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  });
}

test.each([
  ['one break', [`two/${claude}`], ' fox'],
  ['two breaks', [`three/${claude}`, `two/${claude}`], ' fox jumps'],
])('a stream with %s says what all took who wrote it', async (_title, fallbacks, rest) => {
  first.script(
    stream([openAiChunk({ content: 'The quick ' }), openAiChunk({ content: 'brown' })], 'cut'),
  );
  third.script(stream(begun(' fox'), 'cut'));
  second.script(stream(whole(fallbacks.length === 1 ? ' fox' : ' jumps')));
  const caller = await askAs({ fallbacks });
  const before = await costs();
  const streamed = await (await caller.ask()).text();
  expect(textOf(streamed)).toBe(`The quick brown${rest}`);
  const { spend, totals } = await caller.spend();
  expect(totals.requests).toBe(1);
  expect(spend).toHaveLength(fallbacks.length + 1);
  expect(usageOf(streamed)).toMatchObject({
    prompt_tokens: totals.inputTokens,
    completion_tokens: totals.outputTokens,
    cost: totals.dollars,
  });
  const after = await costs();
  for (const [at, name] of ['one', 'two', 'three'].entries()) {
    const spent = spend.find(({ group }: { group: string }) => group === name)?.dollars ?? 0;
    expect((after[at] ?? 0) - (before[at] ?? 0), name).toBeCloseTo(spent, 9);
  }
});

test('who leaves while somebody is asked to go on pays both', async () => {
  const leaving = new AbortController();
  first.script(stream([openAiChunk({ content: 'The quick brown' })], 'cut'));
  second.script(() => leaving.abort());
  const caller = await askAs({ fallbacks: [`two/${claude}`] });
  const answer = await caller.ask(leaving.signal);
  await expect(answer.text()).rejects.toThrow();
  await expect.poll(async () => (await caller.spend()).totals.requests).toBe(1);
  const { spend } = await caller.spend();
  expect(spend.map(({ group }: { group: string }) => group).toSorted()).toEqual(['one', 'two']);
});

/** Anthropic's stream of these texts, each in an event of its own. */
const wholeOf = (texts: readonly string[]) => {
  const [beginning = '', ...more] = texts;
  const deltas = more.map((text) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  );
  return [...begun(beginning), ...deltas, ...whole('').slice(3)];
};

test.each([
  [['OP', ' now'], ['STOP'], 'He said ST', 'He said ST'],
  [['O', 'P now'], ['never', 'STOP', 'STOPPED'], 'He said ST', 'He said ST'],
  [['ANDARD', ' now'], ['STOP'], 'He said ST', 'He said STANDARD now'],
  [['O', 'UT now'], ['STOP'], 'He said ST', 'He said STOUT now'],
  [['O'], ['STOP'], 'He said ST', 'He said STO'],
  [['b', 'ab now'], ['aab'], 'caa', 'caa'],
  [['\nHuman: hi'], ['\n\nHuman'], 'Yes.', 'Yes.\\nHuman: hi'],
])(
  'a stop sequence across a break ends the answer, and nothing else does: %j with %j',
  async (texts, stop, before, shown) => {
    first.script(stream([openAiChunk({ content: before })], 'cut'));
    second.script(stream(wholeOf(texts)));
    const caller = await askAs({ fallbacks: [`two/${claude}`], stop });
    const streamed = await (await caller.ask()).text();
    expect(textOf(streamed)).toBe(shown);
    expect(streamed.match(/"finish_reason":"stop"/g)).toHaveLength(1);
    expect(streamed).toMatch(/data: \[DONE\]\n\n$/);
    const { totals } = await caller.spend();
    expect(usageOf(streamed)).toMatchObject({
      prompt_tokens: totals.inputTokens,
      completion_tokens: totals.outputTokens,
      cost: totals.dollars,
    });
  },
);

test('who goes on with an answer that a stop sequence has ended is left', async () => {
  let hasLeft: Promise<void> | undefined;
  first.script(stream([openAiChunk({ content: 'He said ST' })], 'cut'));
  second.script((received, response) => {
    hasLeft = new Promise((resolve) => response.once('close', resolve));
    return stream(begun('OP now'), 'hang')(received, response);
  });
  const caller = await askAs({ fallbacks: [`two/${claude}`], stop: 'STOP' });
  const streamed = await (await caller.ask()).text();
  expect(textOf(streamed)).toBe('He said ST');
  expect(streamed).toMatch(/data: \[DONE\]\n\n$/);
  await hasLeft;
  expect((await caller.spend()).spend).toHaveLength(2);
});

test("an answer that a stop sequence has ended says so in Anthropic's words", async () => {
  await gateway.put('four', {
    dialect: 'gemini',
    baseUrl: `${third.url}/v1beta`,
    models: [{ name: 'gem', capabilities: ['chat'] }],
  });
  const said = (text: string, finishReason?: string) =>
    `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason }] })}\n\n`;
  first.script(stream([openAiChunk({ content: 'He said ST' })], 'cut'));
  third.script(stream([said('OP now'), said(' and then', 'STOP')]));
  const { text } = await gateway.call('POST', '/v1/messages', {
    model: 'one/m',
    fallbacks: ['four/gem'],
    stream: true,
    stop_sequences: ['STOP'],
    max_tokens: 50,
    messages: [{ role: 'user', content: 'x' }],
  });
  expect(text).toContain('"stop_reason":"stop_sequence","stop_sequence":"STOP"');
  expect(text).not.toContain('now');
  expect(text.trimEnd().endsWith('{"type":"message_stop"}')).toBe(true);
});
