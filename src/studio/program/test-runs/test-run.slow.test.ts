import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTests } from './test-run.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'studio-run-'));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (script: string, options: { timeLimitMs?: number; signal?: AbortSignal } = {}) =>
  runTests({
    command: [process.execPath, '--eval', script],
    folder,
    timeLimitMs: 20_000,
    signal: new AbortController().signal,
    environment: { PATH: process.env['PATH'], ENNEAD_IDENTITY_FILE: '/secret', API_KEY: 'k' },
    ...options,
  });

/** Starts one in its group and one outside of it that both heed no SIGTERM, then waits. */
const stubborn = `
  const { spawn } = require('node:child_process');
  const loop = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e3); console.log('up')";
  const pids = [false, true].map((detached) => {
    const child = spawn(process.execPath, ['--eval', loop], { detached, stdio: 'inherit' });
    child.unref();
    return child.pid;
  });
  require('node:fs').writeFileSync('pids', pids.join(' '));
  process.on('SIGTERM', () => {});
`;

async function pidsLeft(): Promise<number[]> {
  const pids = (await readFile(join(folder, 'pids'), 'utf8')).split(' ').map(Number);
  return pids.filter((pid) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  });
}

test('the time limit ends all that the command started', async () => {
  const report = await run(`${stubborn} setInterval(() => {}, 1e3);`, { timeLimitMs: 1_999.5 });
  expect(report).toMatchObject({ exitCode: null });
  expect(report.output).toContain('Ended at its time limit of 2.0 s.');
  await expect.poll(pidsLeft).toEqual([]);
});

test('calling it off ends all of it before it is told', async () => {
  const stop = new AbortController();
  const running = run(`${stubborn} setInterval(() => {}, 1e3);`, { signal: stop.signal });
  await expect.poll(() => readFile(join(folder, 'pids'), 'utf8').catch(() => '')).toMatch(/\d/);
  stop.abort(new Error('called off'));
  await expect(running).rejects.toThrow('called off');
  await expect.poll(pidsLeft).toEqual([]);
});

test('what a command leaves behind ends with it', async () => {
  const report = await run(`${stubborn} setTimeout(() => process.exit(0), 500);`);
  expect(report).toMatchObject({ exitCode: 0 });
  await expect.poll(pidsLeft).toEqual([]);
});

test('the command sees nothing that the agent was told for itself', async () => {
  const { output, exitCode } = await run('console.log(JSON.stringify(process.env))');
  expect(exitCode).toBe(0);
  const names = Object.keys(JSON.parse(output)).filter((name) => name !== 'ENNEAD_TEST_RUN');
  expect(names.toSorted()).toEqual(['CI', 'PATH']);
});

test('of one that was killed the output says so', async () => {
  const report = await run(`console.log('so far'); process.kill(process.pid, 'SIGKILL');`);
  expect(report).toMatchObject({ exitCode: null });
  expect(report.output).toMatch(/^so far\n\nEnded by SIGKILL, .*memory\.\n$/);
});

test('of much output the end is kept', async () => {
  const report = await run(`
    process.stdout.write('x'.repeat(20e6) + '\\nℹ tests 1\\nℹ pass 1\\nℹ fail 0\\n');
  `);
  expect(report).toMatchObject({ passed: 1, exitCode: 0 });
  expect(report.output.length).toBeLessThanOrEqual(16 * 1024);
});
