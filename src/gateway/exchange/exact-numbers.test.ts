import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { json, startGateway, startProvider, type ScriptedProvider } from '../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

const dialects = ['openai', 'anthropic', 'gemini', 'ollama'] as const;
type Name = (typeof dialects)[number];

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([
    startProvider(),
    startGateway({ environment: { GATEWAY_REDACT: 'email' } }),
  ]);
});

beforeEach(async () => {
  upstream.received.length = 0;
  for (const dialect of dialects) {
    const models = [{ name: 'm', capabilities: ['chat', 'tools', 'json'] }];
    await gateway.put(dialect, { dialect, baseUrl: `${upstream.url}/v1`, models });
  }
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const input = '{"id":12345678901234567890,"of":[-9007199254740993,0.12345678901234567891]}';
const asText = JSON.stringify(input);
const schema =
  '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807}}}';

/** A whole answer with one call, as each dialect has it. */
const answers: Readonly<Record<Name, string>> = {
  openai: `{"id":"x","model":"m","x_request":18446744073709551615,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":${asText}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
  anthropic: `{"id":"x","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"t","input":${input}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
  gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":${input}}}]},"finishReason":"STOP"}]}`,
  ollama: `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"t","arguments":${input}}}]},"done":true,"done_reason":"stop"}`,
};

/** A conversation with one call, as the client of each API tells it. */
const asked = {
  '/v1/chat/completions': `{"model":"MODEL","tools":[{"type":"function","function":{"name":"t","parameters":${schema}}}],"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":${asText}}}]},{"role":"tool","tool_call_id":"c","content":"ok"}]}`,
  '/v1/messages': `{"model":"MODEL","max_tokens":9,"tools":[{"name":"t","input_schema":${schema}}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"t","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"}]}]}`,
  '/v1/responses': `{"model":"MODEL","tools":[{"type":"function","name":"t","parameters":${schema}}],"input":[{"type":"message","role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"t","arguments":${asText}},{"type":"function_call_output","call_id":"c","output":"ok"}]}`,
};
type Path = keyof typeof asked;
const paths = Object.keys(asked) as Path[];

const cases = paths.flatMap((path) => dialects.map((name): [Path, Name] => [path, name]));

test.each(cases)('%s and %s exchange calls and schemas with their numbers', async (path, name) => {
  upstream.script(json(answers[name]));
  const answer = await gateway.call('POST', path, asked[path].replace('MODEL', `${name}/m`));
  expect(answer.status, answer.text).toBe(200);
  const sent = upstream.received.at(-1)?.text ?? '';
  expect(sent).toContain(name === 'openai' ? asText : input);
  expect(sent).toContain('"maximum":9223372036854775807');
  expect(answer.text).toContain(path === '/v1/messages' ? input : asText);
});

test("what the interface's own endpoint writes anew keeps its numbers", async () => {
  upstream.script(json(answers.openai));
  const text = asked['/v1/chat/completions'].replace('MODEL', 'openai/m');
  const answer = await gateway.call('POST', '/api/v1/chat/completions', text);
  expect(answer.text).toContain('"x_request":18446744073709551615');
});

test('arguments and schemas keep their numbers where a guardrail changes texts beside them', async () => {
  upstream.script(json(answers.anthropic));
  const path = '/v1/messages';
  const text = asked[path].replace('MODEL', 'anthropic/m');
  const personal = text
    .replace('"content":"ok"', '"content":"ask ann@example.com"')
    .replaceAll('{"id":1', '{"to":"ann@example.com","id":1');
  const answer = await gateway.call('POST', path, personal);
  expect(answer.status, answer.text).toBe(200);
  const sent = upstream.received.at(-1)?.text ?? '';
  expect(sent).not.toContain('ann@');
  expect(sent).toContain(input.slice(1));
  expect(sent).toContain('"maximum":9223372036854775807');
  expect(answer.text).toContain(input);
});

test('requests that differ beyond what doubles hold have answers of their own', async () => {
  upstream.script(json(answers.anthropic));
  const ask = async (last: string) => {
    const text = asked['/v1/messages']
      .replace('MODEL', 'gemini/m')
      .replace('"max_tokens":9', '"max_tokens":9,"temperature":0')
      .replace('12345678901234567890', `1234567890123456789${last}`);
    upstream.script(json(answers.gemini));
    return await gateway.call('POST', '/v1/messages', text);
  };
  expect((await ask('0')).headers.get('x-cache')).toBe('MISS');
  expect((await ask('1')).headers.get('x-cache')).toBe('MISS');
  const hit = await ask('0');
  expect(hit.headers.get('x-cache')).toBe('HIT');
  expect(hit.text).toContain(input);
});
