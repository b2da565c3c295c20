import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authContract } from '../../src/auth/contract.ts';
import { chatContract } from '../../src/chat/contract.ts';
import { createClient } from '../../src/kit/client.ts';
import { Tracer } from '../../src/kit/trace/trace.ts';
import { services } from '../../src/services.ts';
import { Suite } from '../../src/suite.ts';
import { workflowContract } from '../../src/workflow/contract.ts';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, temporaryFolder } from '../ennead.ts';
import { completeWithOpenAi, completionSpans, isCompletionTrace } from './main-job.ts';

const lasting = ['auth', 'chat'];
const others = services.map(({ contract }) => contract.name).filter((n) => !lasting.includes(n));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let base: number;
let suite: Suite;
let token: string;

const urlOf = (name: string) => serviceUrl(base, name);
const isUp = (name: string) =>
  fetch(`${urlOf(name)}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
/** Chat's routes with the administrator's token. */
const chat = () =>
  createClient(chatContract, {
    baseUrl: urlOf('chat'),
    token: async () => token,
    tracer: new Tracer(() => {}),
  });
const start = (profile: string) => chat().startServices({ body: { profile } });
const stop = (profile: string) => chat().stopServices({ body: { profile } });

beforeAll(async () => {
  [folder, base] = await Promise.all([temporaryFolder(), freePortBase()]);
  suite = await Suite.open({
    environment: {
      ENNEAD_DATA_DIR: join(folder.path, 'data'),
      ENNEAD_PORT_BASE: String(base),
      ENNEAD_LOG_LEVEL: 'silent',
    },
    hosted: services,
    hasConsole: false,
  });
  const credentials = await readFile(join(folder.path, 'data', 'admin.json'), 'utf8');
  const auth = createClient(authContract, { baseUrl: urlOf('auth'), tracer: new Tracer(() => {}) });
  token = (await auth.login({ body: JSON.parse(credentials) as never })).access_token;
}, 120_000);

afterAll(async () => {
  await suite[Symbol.asyncDispose]();
  await folder.remove();
});

test('every path that the info names answers', async () => {
  const { endpoints } = await chat().info({});
  const headers = { authorization: `Bearer ${token}` };
  for (const path of Object.values(endpoints)) {
    const answers = await Promise.all(
      ['GET', 'POST'].map((method) => fetch(urlOf('chat') + path, { method, headers })),
    );
    expect(answers.filter(({ status }) => status < 404 || status === 429)).not.toEqual([]);
  }
  expect(Object.keys(endpoints)).toEqual(
    expect.arrayContaining(['health', 'chat', 'search', 'agents', 'voice']),
  );
  expect(endpoints).not.toHaveProperty('tddai');
});

test('the health of chat tells of a whole suite', async () => {
  expect(await chat().health({})).toMatchObject({
    status: 'healthy',
    voice: { enabled: true, status: 'text-commands' },
    librechat: { enhanced: true, kagent: true, ossa: true, agentStudio: true },
    consumers: { workflow: true, mesh: true, studio: true },
    rocketship: { enabled: true },
  });
});

test('a user without the right stops nothing', async () => {
  const answer = await fetch(`${urlOf('chat')}/api/cli/stop`, { method: 'POST' });
  expect(answer.status).toBe(401);
  expect(await isUp('mesh')).toBe(true);
});

test('stop ends all but auth and chat, which go on', async () => {
  const answer = await chat().stopServices({ body: {} });
  expect(answer.success).toBe(true);
  // In reverse: who takes the others' spans goes last.
  expect(answer.message).toMatch(/^stopped .*mesh.*, tracer$/);
  expect(await Promise.all(others.map(isUp))).toEqual(others.map(() => false));
  expect(await Promise.all(lasting.map(isUp))).toEqual([true, true]);
  const { containers } = await chat().listContainers({});
  for (const { name, status, image } of containers) {
    expect(image).toMatch(/^ennead\/[a-z]+:\d+\.\d+\.\d+$/);
    if (lasting.includes(name)) expect(status).toMatch(/^Up \d+ seconds? \((healthy|degraded)\)$/);
    else expect(status).toMatch(/^Exited \(0\) \d+ seconds? ago$/);
  }
});

test('callers of a stopped service hear that it is unavailable, and chat says so of itself', async () => {
  const workflow = createClient(workflowContract, {
    baseUrl: urlOf('workflow'),
    token: async () => token,
    tracer: new Tracer(() => {}),
  });
  await expect(workflow.health({})).rejects.toMatchObject({ code: 'unavailable' });
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  await expect(chat().chatCompletions({ body: { messages } })).rejects.toMatchObject({
    code: 'unavailable',
  });
  await expect
    .poll(() => chat().health({}))
    .toMatchObject({
      status: 'degraded',
      librechat: { enhanced: false, kagent: false, ossa: false, agentStudio: false },
    });
});

test('all are started again on their ports, and work as before', async () => {
  const core = await start('core');
  expect(core).toEqual({
    success: true,
    message: 'started models, gateway',
    services: ['auth', 'gateway', 'chat', 'models'],
  });
  const full = await start('full');
  expect(full.success).toBe(true);
  expect(full.services).toHaveLength(services.length);
  expect(await Promise.all(others.map(isUp))).toEqual(others.map(() => true));
  await completeWithOpenAi(urlOf('gateway'), token);
  const spans = () => completionSpans(urlOf('tracer'), token);
  await expect.poll(async () => isCompletionTrace(await spans())).toBe(true);
});

test('each is stopped and started alone, over and over, while the others stay', async () => {
  for (let round = 0; round < 2; round += 1) {
    for (const name of others) {
      expect(await stop(name)).toEqual({ success: true, message: `stopped ${name}` });
      expect(await isUp(name)).toBe(false);
      expect(await start(name)).toMatchObject({ success: true, message: `started ${name}` });
      expect(await isUp(name)).toBe(true);
    }
  }
}, 120_000);

test('who stops and starts at once gets one after the other', async () => {
  const answers = await Promise.all([stop('mesh'), start('mesh'), stop('mesh'), start('mesh')]);
  expect(answers.every(({ success }) => success)).toBe(true);
  expect(await isUp('mesh')).toBe(true);
});

test('a stream that is open when its service stops is ended, and nobody waits for ever', async () => {
  const answer = await fetch(`${urlOf('gateway')}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      stream: true,
      max_tokens: 2_000,
      messages: [{ role: 'user', content: 'Go on.' }],
    }),
  });
  const reading = answer.text().catch(() => 'cut');
  await stop('gateway');
  await reading;
  expect(await isUp('gateway')).toBe(false);
  expect((await start('gateway')).message).toBe('started gateway');
});
