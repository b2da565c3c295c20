import Docker from 'dockerode';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Depth } from '../harness/depth.ts';
import { findPortBase } from '../harness/free-ports.ts';
import { Program } from '../foundation/program.ts';
import { ratioAtMost, type Figure } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';
import { ask, type StudioHello } from './studio.ts';

const studioPort = 9;
const password = 'a password of the benchmark';
const cold = 'ours, cold: to the first heartbeat';
const warm = 'ours, from the pool: to the first heartbeat';
const bare = 'fork of an empty module, to its first message';

/** An agent that is started, to its first heartbeat at the mesh, beside a bare fork. */
export async function measureSpawn(depth: Depth): Promise<Figure[]> {
  await using coldSuite = await Suite.start({ STUDIO_WARM_AGENTS: '0' });
  await using warmSuite = await Suite.start({ STUDIO_WARM_AGENTS: '2' });
  const samples = await runRounds(
    [
      { name: cold, measure: () => coldSuite.spawn('local') },
      {
        name: warm,
        measure: async () => {
          // The pool fills itself again in the background.
          await new Promise((resolve) => setTimeout(resolve, 3_000));
          return warmSuite.spawn('local');
        },
      },
      { name: bare, measure: () => timeFork(coldSuite.folder) },
    ],
    depth,
  );
  return [
    {
      title: 'An agent, from POST /api/v1/agents/spawn to its first heartbeat',
      rows: [
        { name: cold, role: 'ours', unit: 'ms', samples: samples(cold), goal: ratioAtMost(3) },
        { name: warm, role: 'ours', unit: 'ms', samples: samples(warm), goal: ratioAtMost(0.5) },
        { name: bare, role: 'limit', unit: 'ms', samples: samples(bare) },
      ],
      note: 'whole suites, each agent with a credential of its own; stopped and deleted after each round',
    },
  ];
}

/** The same in a container, beside what the Docker API itself takes. Needs a daemon and the agent's image. */
export async function measureDocker(depth: Depth): Promise<Figure[]> {
  await using suite = await Suite.start({});
  const { runtimes } = await suite.ask<{
    runtimes: { name: string; available: boolean; missing?: string }[];
  }>({ path: '/api/v1/runtimes' });
  const docker = runtimes.find(({ name }) => name === 'docker');
  if (!docker?.available) {
    process.stderr.write(`bench: docker was left out: ${docker?.missing ?? 'it is not there'}\n`);
    return [];
  }
  const ours = 'ours: to the first heartbeat';
  const control = 'the bare API: a container of the same image, `node -e 0`, to its end';
  const image = await imageOf(suite);
  const samples = await runRounds(
    [
      { name: ours, measure: () => suite.spawn('docker') },
      { name: control, measure: () => timeContainer(image) },
    ],
    { rounds: Math.min(5, depth.rounds), warmUps: 1 },
  );
  return [
    {
      title: 'An agent in a container',
      rows: [
        { name: ours, role: 'ours', unit: 'ms', samples: samples(ours) },
        { name: control, role: 'limit', unit: 'ms', samples: samples(control) },
      ],
    },
  ];
}

/** What the suite runs agents in, unless it is told otherwise. */
async function imageOf(suite: Suite): Promise<string> {
  const { version } = await suite.ask<{ version: string }>({ path: '/health' });
  return process.env['STUDIO_AGENT_IMAGE'] ?? `ennead/agent:${version}`;
}

/** Of the daemon that `DOCKER_HOST` names, as the studio's. */
async function timeContainer(image: string): Promise<number> {
  const docker = new Docker();
  const startedAt = performance.now();
  const container = await docker.createContainer({
    Image: image,
    Entrypoint: ['node'],
    Cmd: ['-e', '0'],
    HostConfig: { NetworkMode: 'none' },
  });
  await container.start();
  const { StatusCode: status } = (await container.wait()) as { readonly StatusCode: number };
  const ms = performance.now() - startedAt;
  await container.remove();
  if (status !== 0) throw new Error(`the bare container ended with ${status}`);
  return ms;
}

async function timeFork(folder: string): Promise<number> {
  const module = join(folder, 'bare.mjs');
  await writeFile(module, "process.send('here'); setInterval(() => {}, 60_000);");
  const startedAt = performance.now();
  const child = fork(module, { execArgv: [] });
  await once(child, 'message');
  const ms = performance.now() - startedAt;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return ms;
}

/** A whole suite on ports of its own, with a studio's client. */
class Suite implements AsyncDisposable {
  readonly folder: string;
  readonly #program: Program;
  readonly #hello: StudioHello;

  private constructor(folder: string, program: Program, hello: StudioHello) {
    this.folder = folder;
    this.#program = program;
    this.#hello = hello;
  }

  static async start(settings: Readonly<Record<string, string>>): Promise<Suite> {
    const folder = await mkdtemp(join(tmpdir(), 'ennead-spawn-'));
    const portBase = await findPortBase();
    const environment = {
      ...settings,
      ENNEAD_PORT_BASE: String(portBase),
      ENNEAD_DATA_DIR: folder,
      ENNEAD_ADMIN_PASSWORD: password,
      RATE_LIMIT_STUDIO_PER_MINUTE: '100000',
    };
    const options = { command: 'npm', args: ['start'], folder: process.cwd(), environment };
    const program = await Program.start(options);
    const url = `http://127.0.0.1:${portBase + studioPort}`;
    const body = { username: 'admin', password };
    const nobody = { url, token: '' };
    const path = '/api/v1/auth/login';
    const login = await ask<{ access_token: string }>(nobody, { method: 'POST', path, body });
    return new Suite(folder, program, { url, token: login.access_token });
  }

  ask<Answer>(request: Parameters<typeof ask>[1]): Promise<Answer> {
    return ask<Answer>(this.#hello, request);
  }

  /** Milliseconds until an agent beats; it is gone when this resolves. */
  async spawn(runtime: string): Promise<number> {
    const startedAt = performance.now();
    const path = '/api/v1/agents/spawn';
    const body = { type: 'assistant', runtime };
    const { id } = await this.ask<{ id: string }>({ method: 'POST', path, body });
    const ms = performance.now() - startedAt;
    await this.ask({ method: 'DELETE', path: `/api/v1/agents/${id}` });
    return ms;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}
