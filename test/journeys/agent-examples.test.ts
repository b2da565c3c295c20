import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { askEnnead, serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';
import { logInAsPrinted } from './main-job.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const isPosix = process.platform !== 'win32';
const agents: ChildProcess[] = [];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let ennead: Ennead;
let base: number;
let meshUrl: string;
let token: string;

/** Runs an example as its first lines say. */
function startExample(name: string, ...words: string[]) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', `examples/agent/${name}.ts`, ...words],
    {
      cwd: root,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: tmpdir(),
        MESH_URL: meshUrl,
        MESH_GRPC: `localhost:${base + 11}`,
        MESH_TOKEN: token,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  agents.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString();
    });
  }
  return { child, output: () => output };
}

async function call(method: string, path: string, body?: object) {
  const answer = await fetch(meshUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  // Tests read whatever they expect; a wrong expectation fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  const answered: any = await answer.json();
  return { status: answer.status, body: answered };
}

const execute = (targetAgent: string, task: object) =>
  call('POST', '/api/v1/tasks/execute', { targetAgent, task });

/** Resolves when the mesh knows the agent. */
async function joined(agentId: string, output: () => string): Promise<void> {
  const status = async () => (await call('GET', `/api/v1/agents/${agentId}`)).status;
  await expect.poll(status, { timeout: 30_000, message: output() }).toBe(200);
}

async function interrupt(child: ChildProcess): Promise<number | null> {
  child.kill('SIGINT');
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

describe.skipIf(!isPosix)(
  isPosix ? 'the agents of examples/' : 'there are no interrupts on Windows',
  () => {
    beforeAll(async () => {
      [folder, base] = await Promise.all([temporaryFolder(), freePortBase()]);
      meshUrl = serviceUrl(base, 'mesh');
      ennead = startEnnead(['run', 'auth', 'mesh'], {
        ENNEAD_DATA_DIR: join(folder.path, 'data'),
        ENNEAD_PORT_BASE: String(base),
      });
      await ennead.ready;
      token = logInAsPrinted(ennead.output());
    }, 120_000);

    afterAll(async () => {
      for (const agent of agents) agent.kill('SIGKILL');
      await ennead.stop('SIGKILL');
      await folder.remove();
    });

    test('the greeter says so when it may not in, and ends', async () => {
      const whole = token;
      token = 'no token';
      const { child, output } = startExample('greeter');
      token = whole;
      await once(child, 'exit');
      expect(child.exitCode).not.toBe(0);
      expect(output()).toMatch(/token|unauthenticated|credential/i);
    });

    test('the greeter greets whoever asks, and is gone once it is interrupted', async () => {
      const { child, output } = startExample('greeter');
      await joined('greeter', output);
      const greet = (input: object) => execute('greeter', { type: 'greet', input });
      expect(await greet({ name: 'Ada' })).toMatchObject({
        status: 200,
        body: { status: 'completed', result: { text: 'Hello Ada!' }, executedBy: 'greeter' },
      });
      expect((await greet({})).body).toMatchObject({ result: { text: 'Hello world!' } });
      expect(await interrupt(child)).toBe(0);
      expect(await greet({})).toMatchObject({ status: 404 });
    });

    test('the voter proves what it can do, does tasks and votes with its key', async () => {
      const { child, output } = startExample('voter');
      await joined('reviewer', output);
      await expect.poll(output, { timeout: 30_000 }).toContain('\n');
      expect(JSON.parse(output())).toMatchObject({ verified: true, token: expect.any(String) });
      const capabilities = ['code-review'];
      const found = await call('POST', '/api/v1/agents/discover', {
        capabilities,
        filters: { attested: true },
      });
      expect(found.body).toMatchObject({ agents: [{ agentId: 'reviewer' }], totalFound: 1 });
      const done = await execute('reviewer', { type: 'review', input: { diff: '+1' } });
      expect(done.body).toMatchObject({ result: { verdict: 'short' } });
      const made = await call('POST', '/api/v1/swarms', {
        name: 'releases',
        agents: ['reviewer'],
        consensus: { type: 'byzantine-fault-tolerant', threshold: 1, timeout: 20_000 },
        task: { type: 'release', input: {} },
      });
      expect(made.status).toBe(201);
      const path = `/api/v1/swarms/${made.body.swarmId}/status`;
      const decision = async () => (await call('GET', path)).body.finalDecision;
      await expect.poll(decision).toBe('approve');
      expect(await interrupt(child)).toBe(0);
    });

    test('the counter speaks gRPC alone, with a certificate that a machine without our data asked for', async () => {
      const admin = await readFile(join(folder.path, 'data', 'admin.json'), 'utf8');
      const certificates = join(folder.path, 'certificates');
      const issued = await askEnnead(
        ['certs', 'issue', '--agent-id', 'counter', '--out', certificates],
        {
          variables: {
            ENNEAD_DATA_DIR: join(folder.path, 'nowhere'),
            ENNEAD_PORT_BASE: String(base),
            ENNEAD_ADMIN_PASSWORD: JSON.parse(admin).password,
          },
        },
      );
      expect(issued.code, issued.stderr).toBe(0);
      const { child, output } = startExample('counter', certificates);
      await joined('counter', output);
      const count = () =>
        execute('counter', { type: 'count', input: { text: 'three short words' } });
      expect((await count()).body).toMatchObject({
        result: { words: 3 },
        executedBy: 'counter',
      });
      expect(await interrupt(child)).toBe(0);
      expect(await count()).toMatchObject({ status: 404 });
    });
  },
);
