import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { runEnnead, startEnnead, temporaryFolder } from '../ennead.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let base: number;

beforeAll(async () => {
  [folder, base] = await Promise.all([temporaryFolder(), freePortBase()]);
});

afterAll(() => folder.remove());

function settings(more: Record<string, string> = {}): Record<string, string> {
  return { ENNEAD_DATA_DIR: join(folder.path, 'data'), ENNEAD_PORT_BASE: String(base), ...more };
}

/** A start that must fail: not with 0, in exactly these lines. */
async function expectRefusal(words: string[], variables: Record<string, string>, lines: RegExp[]) {
  const { code, output } = await runEnnead(words, variables);
  expect(code).not.toBe(0);
  const said = output.trim().split('\n');
  expect(said).toHaveLength(lines.length);
  lines.forEach((line, at) => expect(said[at]).toMatch(line));
}

describe('a start that cannot succeed says why in one clear sentence and does not exit with 0', () => {
  test('a taken port', async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(base + 3, '127.0.0.1', resolve));
    await expectRefusal(['up'], settings(), [
      new RegExp(`^ennead: gateway cannot listen on 127.0.0.1:${base + 3}: the port is taken`),
    ]);
    await new Promise((resolve) => squatter.close(resolve));
  });

  test('a data folder that cannot be written', async () => {
    const file = join(folder.path, 'a-file');
    await writeFile(file, '');
    await expectRefusal(['up'], settings({ ENNEAD_DATA_DIR: join(file, 'data') }), [
      /^ennead: .*data folder .*a-file/,
    ]);
    await expectRefusal(['up'], settings({ ENNEAD_DATA_DIR: '/proc/ennead' }), [
      /^ennead: the data folder \/proc\/ennead is not writable/,
    ]);
    await expectRefusal(['up'], settings({ ENNEAD_DATA_DIR: file }), [
      /^ennead: .*data folder .*a-file/,
    ]);
  });

  test('bad variables, all at once, a line each', async () => {
    const bad = {
      ENNEAD_PORT_BASE: 'many',
      RATE_LIMIT_GATEWAY_BURST: '-1',
      ENNEAD_AUTH_URL: 'nowhere',
    };
    await expectRefusal(['up'], settings(bad), [
      /^ennead: ENNEAD_PORT_BASE .*"many"/,
      /^ennead: ENNEAD_AUTH_URL .*"nowhere"/,
      /^ennead: RATE_LIMIT_GATEWAY_BURST .*"-1"/,
    ]);
  });

  test('an address that this machine does not have', async () => {
    await expectRefusal(['run', 'mesh'], settings({ ENNEAD_HOST: '192.0.2.1' }), [
      /^ennead: mesh cannot listen on 192.0.2.1:\d+: this machine has no such address/,
    ]);
  });

  test('a database that does not answer, without its password', async () => {
    const url = 'postgres://ennead:hunter2@127.0.0.1:1/ennead';
    const { code, output } = await runEnnead(
      ['run', 'auth'],
      settings({ ENNEAD_DATABASE_URL: url }),
    );
    expect(code).not.toBe(0);
    expect(output).toMatch(/^ennead: .*PostgreSQL/);
    expect(output).not.toContain('hunter2');
  });

  test('a service that does not exist', async () => {
    await expectRefusal(['run', 'auht'], settings(), [
      /^ennead: there is no service auht; there are /,
    ]);
  });

  test('a second process on the same folder, while the first goes on', async () => {
    const first = startEnnead(['run', 'mesh'], settings());
    await first.ready;
    const otherBase = await freePortBase();
    await expectRefusal(['run', 'mesh'], settings({ ENNEAD_PORT_BASE: String(otherBase) }), [
      new RegExp(`^ennead: .*in use by process ${first.process.pid} .*: stop that one first`),
    ]);
    await expectRefusal(['run', 'mesh'], settings(), [
      new RegExp(`^ennead: .*in use by process ${first.process.pid}`),
    ]);
    expect((await fetch(`http://127.0.0.1:${base + 1}/health`)).status).toBe(200);
    expect((await first.stop()).code).toBe(0);
  });

  test('after kill -9 the folder can be used again', async () => {
    const first = startEnnead(['run', 'mesh'], settings());
    await first.ready;
    await first.stop('SIGKILL');
    const second = startEnnead(['run', 'mesh'], settings());
    await second.ready;
    expect((await second.stop()).code).toBe(0);
  });
});

describe('the command', () => {
  test.each(['up', 'run', 'status', 'migrate', 'doctor'])(
    '%s --help explains it',
    async (command) => {
      const { code, output } = await runEnnead([command, '--help']);
      expect(code).toBe(0);
      expect(output).toContain(`Usage: ennead ${command}`);
    },
  );

  test('an unknown command shows the help and fails', async () => {
    const { code, output } = await runEnnead(['fly']);
    expect(code).not.toBe(0);
    expect(output).toContain('Usage: ennead');
  });

  test('migrate applies what is due, once', async () => {
    const variables = settings({ ENNEAD_DATA_DIR: join(folder.path, 'migrated') });
    expect((await runEnnead(['migrate'], variables)).output).toContain('applied auth/001-');
    expect((await runEnnead(['migrate'], variables)).output).toBe('up to date\n');
  });

  test('a reader who leaves early is no error', async () => {
    const doctor = startEnnead(['doctor'], settings());
    doctor.process.stdout?.once('data', () => doctor.process.stdout?.destroy());
    const [code] = (await once(doctor.process, 'exit')) as [number | null];
    expect([code, doctor.output()]).toEqual([0, expect.not.stringContaining('EPIPE')]);
  });

  test.skipIf(!existsSync('/dev/full'))('a full disk is said in one sentence', async () => {
    const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
    const words = ['-c', '"$0" "$1" doctor >/dev/full', process.execPath, program];
    const shell = spawn('sh', words, { env: { ...process.env, ...settings() } });
    const [said, [code]] = await Promise.all([text(shell.stderr), once(shell, 'exit')]);
    expect([code, said]).toEqual([1, 'ennead: standard output cannot be written (ENOSPC)\n']);
  });

  test('a container is healthy while what it hosts answers', async () => {
    const program = fileURLToPath(new URL('../../deploy/healthcheck.mjs', import.meta.url));
    const check = async () => {
      const env = { ...process.env, ...settings() };
      return (await once(spawn(process.execPath, [program], { env }), 'exit')) as unknown[];
    };
    const variables = settings({ ENNEAD_DATA_DIR: join(folder.path, 'hosted') });
    const ennead = startEnnead(['run', 'auth'], variables);
    await ennead.ready;
    expect(await check()).toEqual([0, null]);
    await ennead.stop();
    expect(await check()).toEqual([1, null]);
  });

  test('status fails while nothing runs', async () => {
    const { code, output } = await runEnnead(['status'], settings());
    expect(code).toBe(1);
    expect(output).toContain('nothing listens there');
  });

  test('doctor tells programs the same, by names that stay', async () => {
    const { code, output } = await runEnnead(['doctor', '--json'], settings());
    const { isSound, findings } = JSON.parse(output);
    expect([code, isSound]).toEqual([0, true]);
    expect(new Set(findings.map(({ check }: { check: string }) => check))).toEqual(
      new Set('node settings memory dataFolder disk ports database bus models'.split(' ')),
    );
    expect(findings).toContainEqual({
      check: 'memory',
      level: expect.stringMatching(/^(good|warning)$/),
      text: expect.stringMatching(/GiB of memory/),
      facts: { bytes: expect.any(Number), machineBytes: expect.any(Number) },
    });
  });

  test('doctor finds nothing wrong here, and names what is', async () => {
    const { code, output } = await runEnnead(['doctor'], settings());
    expect([code, output]).toEqual([0, expect.stringContaining('all ports are free')]);
    const bad = await runEnnead(['doctor'], settings({ ENNEAD_NATS_URL: 'nats://127.0.0.1:1' }));
    expect([bad.code, bad.output]).toEqual([1, expect.stringContaining('ENNEAD_NATS_URL')]);
    const file = join(folder.path, 'no-folder');
    await writeFile(file, '');
    const misplaced = await runEnnead(['doctor'], settings({ ENNEAD_DATA_DIR: file }));
    expect([misplaced.code, misplaced.output]).toEqual([
      1,
      expect.stringContaining(`FAILED   the data folder ${file} cannot be written`),
    ]);
    expect(misplaced.output).not.toContain('    at ');
  });
});
