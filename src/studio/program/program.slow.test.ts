import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { json, openAiAnswer, startGateway, startProvider } from '../../gateway/testing.ts';
import { callerWith } from '../../kit/http/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { startMesh } from '../../mesh/testing.ts';
import type { ProgramIdentity } from '../runtimes/runtime.ts';
import { startFakeSuite, type FakeSuite } from './testing.ts';

const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const file = fileURLToPath(new URL('main.ts', import.meta.url));
const lifetime = new Lifetime(silentLog);
const children: ChildProcess[] = [];
/** The keys that auth was asked to trade. */
const logins: string[] = [];
let mesh: Awaited<ReturnType<typeof startMesh>>;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let provider: Awaited<ReturnType<typeof startProvider>>;
let suite: FakeSuite;
let authUrl: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'studio-program-'));
  mesh = lifetime.own('the mesh', await startMesh());
  gateway = lifetime.own('the gateway', await startGateway({ issuer: mesh.issuer }));
  provider = lifetime.own('a provider', await startProvider(json(openAiAnswer('Hello Ada.'))));
  const models = [{ name: 'small', capabilities: ['chat'] }];
  await gateway.put('up', {
    dialect: 'openai',
    baseUrl: `${provider.url}/v1`,
    apiKey: 'k',
    models,
  });
  suite = lifetime.own('the studio', await startFakeSuite());
  authUrl = await startAuth();
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  await lifetime[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Trades keys as auth does, for tokens that this mesh and this gateway take. */
async function startAuth(): Promise<string> {
  const server = createServer((request, response) => {
    const answer = async () => {
      const { api_key: key } = (await readJson(request)) as { readonly api_key: string };
      logins.push(key);
      if (key === 'revoked-key') {
        response.writeHead(401).end('{}');
        return;
      }
      const sub = 'studio-agt_1';
      const token = await mesh.issuer.sign({ sub, permissions: ['mesh:communicate'] });
      const body = { access_token: token, expires_in: 3600, service: sub };
      response.writeHead(200).end(JSON.stringify(body));
    };
    void answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  lifetime.defer('auth', () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function identityOf(agentId: string, over: Partial<ProgramIdentity> = {}): ProgramIdentity {
  const { url } = suite;
  return {
    agentId,
    name: 'Ada',
    template: 'tester',
    capabilities: ['test'],
    urls: {
      mesh: mesh.url,
      auth: authUrl,
      gateway: gateway.url,
      registry: url,
      studio: url,
      tracer: url,
    },
    apiKey: 'secret-key',
    workspaceId: 'wsp_1',
    folder,
    ...over,
  };
}

function start(environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ['--import', loader, file], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: 'pipe',
  });
  children.push(child);
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return {
    child,
    said,
    ended,
    tell: (given: unknown) => child.stdin.write(`${JSON.stringify(given)}\n`),
  };
}

async function startTold(identity: ProgramIdentity) {
  const running = start();
  running.tell(identity);
  await expect.poll(() => running.said.out).toContain(`joined the mesh as ${identity.agentId}`);
  return running;
}

async function askAs(subject: string, agentId: string, task: object) {
  const ask = callerWith(mesh.url, await mesh.tokenOf(subject));
  return ask('POST', '/api/v1/tasks/execute', { targetAgent: agentId, task });
}

test('who it is must be said completely', async () => {
  const broken = start();
  broken.child.stdin.write('not json\n');
  expect(await broken.ended).toBe(1);
  expect(broken.said.err).toBe('cannot start: the identity is not JSON\n');
  const partial = start();
  partial.tell({ agentId: 'a', name: 'b', template: 'c', apiKey: 'secret-key', capabilities: [] });
  expect(await partial.ended).toBe(1);
  expect(partial.said.err).toBe(
    'cannot start: the identity is not complete: urls.mesh is no address\n',
  );
  const orphan = start();
  orphan.child.stdin.end();
  expect(await orphan.ended).toBe(0);
});

test('an agent that cannot join says why in one line, without its key', async () => {
  await using other = await startMesh();
  const { urls } = identityOf('agt_x');
  // Another mesh does not know this issuer.
  const refused = start();
  refused.tell({ ...identityOf('agt_x'), urls: { ...urls, mesh: other.url } });
  expect(await refused.ended).toBe(1);
  expect(refused.said.err).toMatch(/^cannot join the mesh: .+\n$/);
  expect(refused.said.err).not.toContain('secret-key');
});

test('a warm program waits, outlives who started it, does tasks and ends when asked', async () => {
  const { child, said, ended, tell } = start();
  tell(identityOf('agt_1'));
  await expect.poll(() => said.out).toContain('joined the mesh as agt_1, a tester');
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  await writeFile(join(folder, 'ok.mjs'), `console.log('TAP version 13\\nok 1 - a\\n1..1')`);
  suite.settings.testCommand = [process.execPath, 'ok.mjs'];
  const answer = await askAs('studio', 'agt_1', { type: 'test', input: { studioTaskId: 'tsk_1' } });
  expect(answer.body).toMatchObject({
    executedBy: 'agt_1',
    result: { artefacts: [{ kind: 'test_report', report: { passed: 1, exitCode: 0 } }] },
  });
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  const ask = callerWith(mesh.url, await mesh.tokenOf('usr_one'));
  expect(await ask('GET', '/api/v1/agents/agt_1')).toMatchObject({ status: 404 });
});

test('a warm program that has its key logs in before it is told who it is, and only then', async () => {
  const apiKey = 'key-of-the-pool';
  const warm = start();
  warm.tell({ credential: { apiKey, authUrl } });
  await expect.poll(() => logins).toContain(apiKey);
  warm.tell(identityOf('agt_7', { apiKey }));
  await expect.poll(() => warm.said.out).toContain('joined the mesh as agt_7');
  expect(logins.filter((key) => key === apiKey)).toHaveLength(1);
  // Told with another key, it uses that one.
  const other = start();
  other.tell({ credential: { apiKey: 'spare-key', authUrl } });
  other.tell(identityOf('agt_8', { apiKey: 'own-key' }));
  await expect.poll(() => other.said.out).toContain('joined the mesh as agt_8');
  expect(logins).toContain('own-key');
});

test('a warm program whose key is revoked while it waits ends, and says so without the key', async () => {
  const warm = start();
  warm.tell({ credential: { apiKey: 'revoked-key', authUrl } });
  expect(await warm.ended).toBe(1);
  expect(warm.said.err).toBe('auth refused its key\n');
});

test('a mesh that goes away once it has heard the agent does not end it', async () => {
  const beats: number[] = [];
  const away = createServer((request, response) => {
    request.resume();
    if (request.url?.endsWith('/register')) {
      const body = { agentId: 'agt_6', heartbeatInterval: 1, epoch: 1 };
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    if (request.url?.endsWith('/heartbeat')) beats.push(Date.now());
    request.socket.destroy();
  });
  await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
  lifetime.defer('a mesh', () => {
    away.closeAllConnections();
    away.close();
  });
  const { urls } = identityOf('agt_6');
  const meshUrl = `http://127.0.0.1:${(away.address() as AddressInfo).port}`;
  const { child, tell } = start();
  tell(identityOf('agt_6', { urls: { ...urls, mesh: meshUrl } }));
  await expect.poll(() => beats.length).toBeGreaterThan(2);
  expect(child.exitCode).toBeNull();
});

test('the identity may lie in a file, and a model is asked under the trace of the task', async () => {
  const path = join(folder, 'identity.json');
  const identity = identityOf('agt_2', { template: 'assistant', capabilities: ['chat'] });
  await writeFile(path, JSON.stringify(identity));
  const { said } = start({ ENNEAD_IDENTITY_FILE: path });
  await expect.poll(() => said.out).toContain('joined the mesh as agt_2');
  const input = { studioTaskId: 'tsk_2', prompt: 'Greet Ada', model: 'small' };
  const answer = await askAs('studio', 'agt_2', { type: 'code_generation', input });
  expect(answer.body).toMatchObject({
    result: { text: 'Hello Ada.', usage: { promptTokens: 10, completionTokens: 5 } },
  });
  const asked = gateway.spans.findLast(({ name }) => name.includes('/chat/completions'));
  expect(mesh.spans.map(({ traceId }) => traceId)).toContain(asked?.traceId);
});

test('tests that print what no text may hold are told with the rest', async () => {
  await startTold(identityOf('agt_5'));
  const script = "process.stdout.write(Buffer.from('a\\0b\\xff\\n', 'latin1'))";
  suite.settings.testCommand = [process.execPath, '--eval', script];
  const input = { studioTaskId: 'tsk_5' };
  const { body } = await askAs('studio', 'agt_5', { type: 'test', input });
  expect(body.result.artefacts[0].report).toMatchObject({
    exitCode: 0,
    output: 'a\ufffdb\ufffd\n',
  });
});

test('who is not the studio gets nothing of the workspace', async () => {
  await startTold(identityOf('agt_3'));
  const input = { studioTaskId: 'x', testCommand: ['touch', 'hacked'] };
  const tried = await askAs('usr_evil', 'agt_3', { type: 'test', input });
  expect(tried.body.error.details.agentError).toContain('Only the studio');
  const reading = { prompt: 'x', context: { files: ['a.ts'] } };
  const read = await askAs('usr_evil', 'agt_3', { type: 'explain', input: reading });
  expect(read.body.error.details.agentError).toContain('needs an agent in a workspace');
});

const forever = `console.log('up'); setInterval(() => {}, 1e3)`;

test('a task that is called off, or runs when the agent ends, is ended', async () => {
  const { child, ended, said } = await startTold(identityOf('agt_4'));
  suite.settings.testCommand = [process.execPath, '--eval', forever];
  const ask = callerWith(mesh.url, await mesh.tokenOf('studio'));
  const token = await mesh.tokenOf('studio');
  const begin = async () => {
    const response = await fetch(`${mesh.url}/api/v1/tasks/execute`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        prefer: 'respond-async',
      },
      body: JSON.stringify({ targetAgent: 'agt_4', task: { type: 'test', timeout: 60_000 } }),
    });
    const { taskId } = (await response.json()) as { readonly taskId: string };
    await expect.poll(() => said.out).toContain(`task ${taskId}: runs`);
    return taskId;
  };
  const first = await begin();
  await ask('DELETE', `/api/v1/tasks/${first}`);
  await expect.poll(() => said.out).toMatch(new RegExp(`${first}: failed .*called off`));
  const second = await begin();
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  const state = await ask('GET', `/api/v1/tasks/${second}`);
  expect(state.body).toMatchObject({ status: 'failed', error: { code: 'AGENT_OFFLINE' } });
});
