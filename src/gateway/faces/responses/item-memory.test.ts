import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  openAiChunk,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([startProvider(), startGateway()]);
  const baseUrl = `${upstream.url}/v1`;
  await gateway.put('up', { dialect: 'openai', baseUrl, models: [{ name: 'm' }] });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const ask = (call: typeof gateway.call, fields: object) =>
  call('POST', '/v1/responses', { model: 'm', ...fields });

let answers = 0;

/** An answer that ends so, with an id of its own; answers the id of its message. */
async function answerOf(finish: string, isStream: boolean, fields: object = {}) {
  const id = `chatcmpl-${(answers += 1)}`;
  const message = { role: 'assistant', content: 'half' };
  const chunks = [openAiChunk({ content: 'half' }), openAiChunk({}, finish), 'data: [DONE]\n\n'];
  upstream.script(
    isStream
      ? stream(chunks.map((chunk) => chunk.replace('chatcmpl-up', id)))
      : json(openAiAnswer('', { id, choices: [{ index: 0, message, finish_reason: finish }] })),
  );
  const { text } = await ask(gateway.call, { input: 'hi', stream: isStream, ...fields });
  return /"id":"(msg_[^"]+)"/.exec(text)?.[1];
}

const goOn = (id: string | undefined, call = gateway.call) => {
  upstream.script(json(openAiAnswer('and more')));
  const input = [
    { type: 'item_reference', id },
    { role: 'user', content: 'go on' },
  ];
  return ask(call, { input });
};

test.each([
  ['stop', true],
  ['stop', false],
  ['length', true],
  ['length', false],
] as const)(
  'an answer that ended by %s, streamed: %j, is referred to',
  async (finish, isStream) => {
    const id = await answerOf(finish, isStream);
    expect((await goOn(id)).status).toBe(200);
    expect(upstream.received.at(-1)?.body.messages).toEqual([
      { role: 'assistant', content: 'half' },
      { role: 'user', content: 'go on' },
    ]);
  },
);

test('nobody refers to what another was answered, or what was not to be stored', async () => {
  const id = await answerOf('stop', true);
  expect((await goOn(id, gateway.asAdmin)).status).toBe(400);
  const unstored = await answerOf('stop', true, { store: false });
  expect((await goOn(unstored)).status).toBe(400);
});
