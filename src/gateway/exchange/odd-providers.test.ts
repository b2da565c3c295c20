import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../testing.ts';

const models = [{ name: 'm', inputCostPerMToken: 1, outputCostPerMToken: 1 }];
const timeouts = { firstTokenMs: 5_000, idleMs: 100, totalMs: 5_000 };

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  upstream = await startProvider();
  gateway = await startGateway();
  await gateway.put('up', {
    dialect: 'openai',
    baseUrl: `${upstream.url}/v1`,
    models,
    timeouts,
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'hi' }];
const chat = { model: 'm', messages, max_tokens: 9 };

describe('a provider that says nothing more behind the whole answer', () => {
  const silent = stream(openAiStream(['Hello']).slice(0, 3), 'hang');

  test.each(['/v1/chat/completions', '/api/v1/chat/completions'])(
    'has answered, with its tokens estimated: %s',
    async (path) => {
      upstream.script(silent);
      const { text } = await gateway.call('POST', path, {
        ...chat,
        stream: true,
        stream_options: { include_usage: true },
      });
      expect(text).toContain('"finish_reason":"stop"');
      expect(text).toMatch(/"usage":\{[^}]*"completion_tokens":2,/);
      expect(text).toMatch(/data: \[DONE\]\n\n$/);
      expect(text).not.toContain('"error"');
    },
  );

  test('has answered clients of Anthropic too', async () => {
    upstream.script(silent);
    const { text } = await gateway.call('POST', '/v1/messages', { ...chat, stream: true });
    expect(text).toContain('"stop_reason":"end_turn"');
    expect(text).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
  });
});
