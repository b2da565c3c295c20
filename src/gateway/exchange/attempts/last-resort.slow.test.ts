import { expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  openAiChunk,
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type Script,
} from '../../testing.ts';

/** A gateway with a model for the task, and one whose quality is too low for it. */
async function startScene(weakDialect = 'openai') {
  const [good, weak, gateway] = await Promise.all([
    startProvider(),
    startProvider(json(openAiAnswer('from the weak'))),
    startGateway(),
  ]);
  const models = (name: string, quality: number) => ({ models: [{ name, quality }] });
  await gateway.put('good', {
    dialect: 'openai',
    baseUrl: `${good.url}/v1`,
    ...models('good', 0.8),
  });
  await gateway.put('weak', {
    dialect: weakDialect,
    baseUrl: `${weak.url}/v1`,
    ...models('weak', 0.05),
  });
  const ask = (fields: Readonly<Record<string, unknown>> = {}) =>
    gateway.call('POST', '/v1/chat/completions', {
      model: 'auto-route',
      messages: [{ role: 'user', content: 'Why is the sky blue?' }],
      ...fields,
    });
  return {
    good,
    weak,
    gateway,
    ask,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await good[Symbol.asyncDispose]();
      await weak[Symbol.asyncDispose]();
    },
  };
}

const broken: Script = json({ error: { message: 'broken' } }, 500);

test('a model below the least quality answers once the others were asked as often as they may be', async () => {
  await using scene = await startScene();
  scene.good.script(broken);
  const answer = await scene.ask();
  expect(answer.body.choices[0].message.content).toBe('from the weak');
  expect(scene.good.received).toHaveLength(3);
});

test('it begins a stream, too', async () => {
  await using scene = await startScene();
  scene.good.script(broken);
  scene.weak.script(stream(openAiStream(['a', 'b'])));
  const answer = await scene.ask({ stream: true });
  expect(answer.text).toContain('[DONE]');
  expect(scene.weak.received).toHaveLength(1);
});

test('it is not asked for a failure that passes', async () => {
  await using scene = await startScene();
  let times = 0;
  scene.good.script((received, response) => {
    times += 1;
    const script = times === 1 ? broken : json(openAiAnswer('from the good'));
    return script(received, response);
  });
  expect((await scene.ask()).body.choices[0].message.content).toBe('from the good');
  expect(scene.weak.received).toHaveLength(0);
});

test.each([
  ['a model that the caller named', { model: 'good' }, broken, 502],
  ['a request that is wrong', {}, json({ error: { message: 'no' } }, 400), 400],
])('it does not stand in for %s', async (_what, fields, script, status) => {
  await using scene = await startScene();
  scene.good.script(script);
  expect((await scene.ask(fields)).status).toBe(status);
  expect(scene.weak.received).toHaveLength(0);
});

test('it does not go on with what a better one began, though its dialect could', async () => {
  await using scene = await startScene('anthropic');
  await using other = await startProvider(broken);
  await scene.gateway.put('other', {
    dialect: 'anthropic',
    baseUrl: `${other.url}/v1`,
    models: [{ name: 'other', quality: 0.8, inputCostPerMToken: 9, outputCostPerMToken: 9 }],
  });
  scene.good.script(stream([openAiChunk({ role: 'assistant', content: 'half ' })], 'cut'));
  const answer = await scene.ask({ stream: true });
  expect(answer.text).toContain('"error"');
  expect(other.received.length).toBeGreaterThan(0);
  expect(scene.weak.received).toHaveLength(0);
});
