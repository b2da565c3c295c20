import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { startProcess } from '../../../kit/entry-file.ts';
import { hasVariable, readProcessTable } from '../../../kit/processes/process-table.ts';
import { collectLines, openTestRuntime, testIdentity, testSpec } from '../testing.ts';

const runsOnLinux = process.platform === 'linux';

/** Numbers of the processes that belong to an agent, however they left it. */
async function processesOf(agentId: string): Promise<number[]> {
  const pids = [...(await readProcessTable()).keys()];
  const isMarked = await Promise.all(
    pids.map((pid) => hasVariable(pid, `ENNEAD_AGENT_ID=${agentId}`)),
  );
  return pids.filter((_pid, at) => isMarked[at]);
}

const opened: AsyncDisposable[] = [];

async function open(...given: Parameters<typeof openTestRuntime>) {
  const ground = await openTestRuntime(...given);
  opened.push(ground);
  return ground;
}

afterEach(async () => {
  for (const ground of opened.splice(0)) await ground[Symbol.asyncDispose]();
});

const staysUp = `setInterval(() => {}, 1000);`;
const readsIdentity = `
import { createInterface } from 'node:readline';
const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => console.log('told', JSON.parse(line).agentId));
`;

describe.runIf(runsOnLinux)('limits of a program', () => {
  test('memory outside the JavaScript heap counts: a hog of Buffers is ended', async () => {
    const { runtime } = await open(`
      const kept = [];
      setInterval(() => kept.push(Buffer.alloc(16 * 2 ** 20, 1)), 20);
    `);
    const spec = testSpec({ resources: { cpu: 1, memory: 128 * 2 ** 20 } });
    const program = await runtime.start(spec);
    expect(await program.ended).toMatchObject({ signal: 'SIGKILL', reason: 'out_of_memory' });
    expect(await processesOf(spec.agentId)).toEqual([]);
  });

  test('a full JavaScript heap ends it with the same reason, said by itself', async () => {
    const { runtime } = await open(`
      const kept = [];
      for (;;) kept.push(Array.from({ length: 1000 }, () => ({ kept: Math.random() })));
    `);
    const spec = testSpec({ resources: { cpu: 1, memory: 2 ** 30 } });
    const { options } = opened.at(-1) as Awaited<ReturnType<typeof open>>;
    const small = await open('', {
      ...options,
      command: () => options.command(['--max-old-space-size=40']),
    });
    expect(runtime.name).toBe('local');
    const program = await small.runtime.start(spec);
    const lines = collectLines(program);
    expect(await program.ended).toMatchObject({ signal: 'SIGABRT', reason: 'out_of_memory' });
    expect(lines.join('\n')).toContain('heap out of memory');
  });

  test('memory of its children counts', async () => {
    const { runtime } = await open(`
      import { spawn } from 'node:child_process';
      const code = 'const b = Buffer.alloc(100 * 2 ** 20, 1); setInterval(() => b[0], 1000)';
      for (let at = 0; at < 3; at += 1) spawn(process.execPath, ['-e', code]);
    `);
    const program = await runtime.start(testSpec({ resources: { cpu: 1, memory: 256 * 2 ** 20 } }));
    expect(await program.ended).toMatchObject({ reason: 'out_of_memory' });
  });

  test('a fork bomb is ended whole', async () => {
    // Bounded by itself too: it stops at 60 processes.
    const { runtime } = await open(
      `
      import { spawn } from 'node:child_process';
      for (let at = 0; at < 60; at += 1) spawn('sleep', ['30'], { detached: at % 2 === 0 });
      ${staysUp}
    `,
      { processesMax: 20 },
    );
    const spec = testSpec();
    const program = await runtime.start(spec);
    expect(await program.ended).toMatchObject({ reason: 'too_many_processes' });
    expect(await processesOf(spec.agentId)).toEqual([]);
  });

  test('open files are bounded, for its children too', async () => {
    const { runtime } = await open(
      `
      import { execFileSync } from 'node:child_process';
      console.log(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }));
    `,
      { filesMax: 333 },
    );
    const program = await runtime.start(testSpec());
    const lines = collectLines(program);
    await program.ended;
    expect(lines).toContain('stdout: 333');
  });

  test('what is not kept is said', async () => {
    const { runtime } = await open(staysUp);
    const [cpu, memory] = runtime.limits();
    expect(cpu).toMatchObject({ name: 'cpu', isEnforced: false });
    expect(cpu?.means).toContain('STUDIO_CGROUP');
    expect(memory).toMatchObject({ name: 'memory', isEnforced: true });
    expect(memory?.means).toContain('250 ms');
  });
});

describe.runIf(runsOnLinux)('stopping', () => {
  test('a program that heeds no SIGTERM is killed after the grace', async () => {
    const { runtime } = await open(`
      process.on('SIGTERM', () => console.log('ignored'));
      console.log('ready');
      ${staysUp}
    `);
    const program = await runtime.start(testSpec());
    const lines = collectLines(program);
    await expect.poll(() => lines).toContain('stdout: ready');
    await program.stop(300);
    expect(await program.ended).toEqual({ exitCode: null, signal: 'SIGKILL' });
    expect(lines).toContain('stdout: ignored');
    expect(await program.use()).toBeUndefined();
  });

  test('one that heeds it says its last words and is not waited for', async () => {
    const { runtime, options } = await open(`
      process.on('SIGTERM', () => { console.log('bye'); process.exit(0); });
      console.log('ready');
      ${staysUp}
    `);
    const program = await runtime.start(testSpec());
    const lines = collectLines(program);
    await expect.poll(() => lines).toContain('stdout: ready');
    await program.stop(60_000);
    expect(await program.ended).toEqual({ exitCode: 0, signal: null });
    expect(lines.at(-1)).toBe('stdout: bye');
    expect(await readdir(options.folder)).toEqual([]);
  });

  test('children that left for sessions of their own end with it', async () => {
    const { runtime } = await open(`
      import { spawn } from 'node:child_process';
      const code = 'setsid setsid sleep 60 >/dev/null 2>&1 & setsid sleep 60 >/dev/null 2>&1 &';
      spawn('sh', ['-c', code], { detached: true, stdio: 'ignore' }).unref();
      setTimeout(() => console.log('ready'), 300);
      ${staysUp}
    `);
    const spec = testSpec();
    const program = await runtime.start(spec);
    const lines = collectLines(program);
    await expect.poll(() => lines).toContain('stdout: ready');
    await expect.poll(async () => (await processesOf(spec.agentId)).length).toBe(3);
    await program.stop(2_000);
    expect(await processesOf(spec.agentId)).toEqual([]);
  });

  test('children of a program that ended by itself are ended', async () => {
    const { runtime } = await open(`
      import { spawn } from 'node:child_process';
      spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).unref();
      console.error('broken');
      process.exitCode = 3;
    `);
    const spec = testSpec();
    const program = await runtime.start(spec);
    const lines = collectLines(program);
    expect(await program.ended).toEqual({ exitCode: 3, signal: null });
    expect(lines).toEqual(['stderr: broken']);
    expect(await processesOf(spec.agentId)).toEqual([]);
  });
});

describe.runIf(runsOnLinux)('a program', () => {
  test('is told who it is on its standard input, nowhere else, and once', async () => {
    const { runtime } = await open(
      `${readsIdentity} console.log(JSON.stringify([process.argv, process.env])); ${staysUp}`,
      { environment: { PATH: '/usr/bin:/bin', OPENAI_API_KEY: 'of the suite' } },
    );
    const spec = testSpec();
    const program = await runtime.start(spec);
    const lines = collectLines(program);
    await expect.poll(() => lines.length).toBe(1);
    const identity = testIdentity(spec.agentId);
    await program.tell(identity);
    await expect.poll(() => lines).toContain(`stdout: told ${spec.agentId}`);
    expect(lines.join('\n')).not.toContain(identity.apiKey);
    expect(lines.join('\n')).not.toContain('of the suite');
    await expect(program.tell(identity)).rejects.toMatchObject({ reason: 'start_failed' });
    await program.stop(0);
  });

  test('is measured', async () => {
    const { runtime } = await open(`
      const kept = Buffer.alloc(64 * 2 ** 20, 1);
      setInterval(() => { const end = Date.now() + 50; while (Date.now() < end) kept[0] += 1; }, 100);
    `);
    const program = await runtime.start(testSpec());
    await expect.poll(async () => (await program.use())?.cpu ?? 0).toBeGreaterThan(0.1);
    const use = await program.use();
    expect(use?.cpu).toBeLessThan(1.5);
    expect(use?.memory).toBeGreaterThan(64 * 2 ** 20);
    expect(use?.memory).toBeLessThan(200 * 2 ** 20);
    await program.stop(0);
  });

  test('whose file is not there ends and says so', async () => {
    const { runtime } = await open('', { command: () => ['/nowhere/program'] });
    const program = await runtime.start(testSpec());
    const lines = collectLines(program);
    expect(await program.ended).toMatchObject({ exitCode: 127 });
    expect(lines.join('\n')).toContain('/nowhere/program');
  });

  test('of a start that was not noted is ended before the agent starts again', async () => {
    const { options, runtime } = await open(staysUp);
    const spec = testSpec();
    const first = await runtime.start(spec);
    const again = await open('', options);
    const second = await again.runtime.start(spec);
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(second.reference).not.toBe(first.reference);
    await second.stop(0);
  });
});

describe.runIf(runsOnLinux)('after the studio was killed', () => {
  const talks = `
    process.on('SIGTERM', () => { console.log('bye'); process.exit(0); });
    let count = 0;
    setInterval(() => console.log('line', (count += 1)), 20);
  `;

  /** Starts the program from a process of its own, which is killed; answers the reference. */
  async function startAndDie(ground: Awaited<ReturnType<typeof open>>, agentId: string) {
    const { file, folder, options } = ground;
    const entry = join(folder, 'parent.ts');
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const testing = pathToFileURL(resolve('src/studio/runtimes/testing.ts')).href;
    const started = join(folder, 'reference');
    await writeFile(
      entry,
      `
      import { writeFileSync } from 'node:fs';
      import { openTestRuntime, testSpec } from ${JSON.stringify(testing)};
      const { runtime } = await openTestRuntime('', {
        folder: ${JSON.stringify(options.folder)},
        command: (given) => [process.execPath, ...given, ${JSON.stringify(file)}],
      });
      const program = await runtime.start(testSpec({ agentId: ${JSON.stringify(agentId)} }));
      program.onLine(({ text }) => {
        if (text === 'line 5') writeFileSync(${JSON.stringify(started)}, program.reference);
      });
      setInterval(() => {}, 1000);
    `,
    );
    const beside = pathToFileURL(entry).href;
    const parent = startProcess({ beside, name: 'parent' }, []);
    await expect.poll(() => readFile(started, 'utf8').catch(() => '')).not.toBe('');
    const ended = new Promise((done) => parent.once('exit', done));
    parent.kill('SIGKILL');
    await ended;
    return readFile(started, 'utf8');
  }

  test('what runs is found again, with what it printed meanwhile, and can be stopped', async () => {
    const ground = await open(talks);
    const spec = testSpec();
    const reference = await startAndDie(ground, spec.agentId);
    const program = await ground.runtime.adopt(reference, spec);
    if (!program) throw new Error('it does not run any more');
    const lines = collectLines(program);
    await expect.poll(() => lines.length).toBeGreaterThan(20);
    const numbers = lines.map((line) => Number(line.split(' ').at(-1)));
    // None is left out: a line is told once more rather than never.
    expect(numbers).toEqual(numbers.map((_number, at) => (numbers[0] ?? 0) + at));
    expect(numbers[0]).toBeLessThanOrEqual(12);
    expect((await program.use())?.memory).toBeGreaterThan(2 ** 20);
    await expect(program.tell(testIdentity(spec.agentId))).rejects.toThrow('second time');
    await program.stop(5_000);
    expect(lines.at(-1)).toBe('stdout: bye');
    expect(await processesOf(spec.agentId)).toEqual([]);
  });

  test('one that has died is not there, and its children are ended', async () => {
    const ground = await open(`
      import { spawn } from 'node:child_process';
      spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).unref();
      ${talks}
    `);
    const spec = testSpec();
    const reference = await startAndDie(ground, spec.agentId);
    process.kill(Number(reference.split(':')[0]), 'SIGKILL');
    await expect.poll(async () => (await processesOf(spec.agentId)).length).toBe(1);
    expect(await ground.runtime.adopt(reference, spec)).toBeUndefined();
    expect(await processesOf(spec.agentId)).toEqual([]);
  });

  test('another process with the same number is left alone', async () => {
    const { runtime } = await open(staysUp);
    const program = await runtime.start(testSpec());
    const [pid = '', startedAt = '', boot = ''] = program.reference.split(':');
    const references = [`${pid}:1:${boot}`, `${pid}:${startedAt}:another-boot`, 'nonsense'];
    for (const reference of references) {
      expect(await runtime.adopt(reference, testSpec())).toBeUndefined();
    }
    expect(await program.use()).toBeDefined();
    await program.stop(0);
  });
});

/** The controllers in whose topmost group this process is: no other program keeps it in one there. */
async function freeControllers(): Promise<string[]> {
  const groups = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  const free = ['cpu', 'pids'].filter((name) => new RegExp(`:${name}:/$`, 'm').test(groups));
  const listed = await readdir('/sys/fs/cgroup').catch((): string[] => []);
  const isRoot = process.getuid?.() === 0;
  return isRoot ? free.filter((name) => listed.includes(name)) : [];
}

const free = await freeControllers();

describe.runIf(free.length === 2)('with control groups of version 1 (cpu, pids)', () => {
  async function openWithGroups(script: string, processesMax: number) {
    const { folder, options } = await open(script);
    const mount = join(folder, 'mount');
    await mkdir(mount);
    for (const name of free) await symlink(`/sys/fs/cgroup/${name}`, join(mount, name));
    const cgroup = `/ennead-test-${process.pid}`;
    opened.push({
      [Symbol.asyncDispose]: async () => {
        const folders = free.map((name) => `/sys/fs/cgroup/${name}${cgroup}`);
        await promisify(execFile)('rmdir', folders);
      },
    });
    const ground = await open('', { ...options, processesMax, cgroup, cgroupMount: mount });
    return { ...ground, cgroup };
  }

  test('processor time is bounded, and said to be', async () => {
    const { runtime, cgroup } = await openWithGroups('for (;;);', 100);
    expect(runtime.limits()[0]).toMatchObject({ name: 'cpu', isEnforced: true });
    const spec = testSpec({ resources: { cpu: 0.2, memory: 2 ** 28 } });
    const program = await runtime.start(spec);
    const file = `/sys/fs/cgroup/cpu${cgroup}/${spec.agentId}/cpu.stat`;
    await expect
      .poll(async () => Number(/nr_throttled (\d+)/.exec(await readFile(file, 'utf8'))?.[1]))
      .toBeGreaterThan(2);
    await program.stop(0);
    await expect(access(file)).rejects.toThrow('ENOENT');
  });

  test('no more processes are started than the limit', async () => {
    const { runtime } = await openWithGroups(
      `
      import { spawn } from 'node:child_process';
      let failed = 0;
      for (let at = 0; at < 60; at += 1) {
        spawn('sleep', ['30'], { stdio: 'ignore' }).on('error', () => (failed += 1));
      }
      setTimeout(() => console.log('refused', failed > 10), 300);
      ${staysUp}
    `,
      40,
    );
    const spec = testSpec();
    const program = await runtime.start(spec);
    const lines = collectLines(program);
    await expect.poll(() => lines).toContain('stdout: refused true');
    expect((await processesOf(spec.agentId)).length).toBeLessThanOrEqual(40);
    await program.stop(0);
    expect(await processesOf(spec.agentId)).toEqual([]);
  });
});
