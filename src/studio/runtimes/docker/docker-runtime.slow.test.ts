import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { collectLines, testIdentity, testSpec } from '../testing.ts';
import { DockerRuntime, type DockerSettings } from './docker-runtime.ts';
import { explainNoPodman, startPodman, testImage } from './testing.ts';

const absent = await explainNoPodman();
const title = "the Docker API, by podman's daemon";

describe.skipIf(absent !== undefined)(absent === undefined ? title : `${title}: ${absent}`, () => {
  let podman: Awaited<ReturnType<typeof startPodman>>;
  let folder: string;
  const runtimes: DockerRuntime[] = [];

  beforeAll(async () => {
    podman = await startPodman();
    folder = await mkdtemp(join(tmpdir(), 'studio-workspace-'));
  });

  afterAll(async () => {
    await podman[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) await runtime[Symbol.asyncDispose]();
    expect((await podman.podman('ps', '--all', '--quiet')).trim()).toBe('');
  });

  function open(script: string, given: Partial<DockerSettings> = {}): DockerRuntime {
    const runtime = new DockerRuntime({
      host: podman.host,
      image: testImage,
      network: 'none',
      processesMax: 50,
      filesMax: 512,
      user: '0:0',
      hostInside: 'host.docker.internal',
      command: ['/bin/sh', '-c', script],
      ...given,
    });
    runtimes.push(runtime);
    return runtime;
  }

  test('an absent image is said with how to build it', async () => {
    const runtime = open('', { image: 'localhost/ennead/absent:1' });
    const failure = runtime.start(testSpec());
    await expect(failure).rejects.toMatchObject({ code: 'unavailable', reason: 'image_missing' });
    await expect(failure).rejects.toThrow('docker build');
  });

  test('it is told who it is on standard input, with addresses as they are inside', async () => {
    const runtime = open('read line; echo "$line" > /workspace/told; echo told; env; sleep 30');
    const spec = testSpec({ folder });
    const identity = { ...testIdentity(spec.agentId), folder };
    const program = await runtime.start({ ...spec, identity });
    const lines = collectLines(program);
    await expect.poll(() => lines).toContain('stdout: told');
    const told: unknown = JSON.parse(await readFile(join(folder, 'told'), 'utf8'));
    expect(told).toMatchObject({
      apiKey: identity.apiKey,
      folder: '/workspace',
      urls: { mesh: 'http://host.docker.internal:9' },
    });
    await expect.poll(() => lines).toContain(`stdout: ENNEAD_AGENT_ID=${spec.agentId}`);
    expect(lines.join('\n')).not.toContain(identity.apiKey);
    await program.stop(0);
    expect(await program.ended).toEqual({ exitCode: null, signal: 'SIGKILL' });
  });

  test('one started warm is told later, once', async () => {
    const runtime = open('read line; echo told "$line"; sleep 30');
    const spec = testSpec();
    const program = await runtime.start(spec);
    const lines = collectLines(program);
    await program.tell(testIdentity(spec.agentId));
    await expect.poll(() => lines.join('\n')).toContain(spec.agentId);
    await expect(program.tell(testIdentity(spec.agentId))).rejects.toThrow('second time');
    await program.stop(0);
  });

  test('it has no privilege, and nothing to write to but its folder and /tmp', async () => {
    const runtime = open(`
      while read name value; do case $name in Cap*|NoNewPrivs*) echo $name $value;; esac; done < /proc/self/status
      touch /etc-file || echo read-only; touch /tmp/a && echo tmp; touch /workspace/b && echo folder
      echo error >&2
      exit 3
    `);
    const program = await runtime.start(testSpec({ folder }));
    const lines = collectLines(program);
    expect(await program.ended).toEqual({ exitCode: 3, signal: null });
    expect(lines).toEqual(
      expect.arrayContaining([
        'stdout: CapEff: 0000000000000000',
        'stdout: CapBnd: 0000000000000000',
        'stdout: NoNewPrivs: 1',
        'stdout: read-only',
        'stdout: tmp',
        'stdout: folder',
        'stderr: error',
      ]),
    );
  });

  test('a memory hog is ended, with its reason', async () => {
    const program = await open('tail /dev/zero').start(
      testSpec({ resources: { cpu: 1, memory: 64 * 2 ** 20 } }),
    );
    expect(await program.ended).toMatchObject({ signal: 'SIGKILL', reason: 'out_of_memory' });
  });

  test('it is measured, and kept to its share of the processor', async () => {
    const runtime = open('yes > /dev/null');
    const program = await runtime.start(
      testSpec({ resources: { cpu: 0.3, memory: 64 * 2 ** 20 } }),
    );
    await expect.poll(async () => (await program.use())?.cpu ?? 0).toBeGreaterThan(0.1);
    // A short look may fall on the part of a period in which it runs.
    await expect.poll(async () => (await program.use())?.cpu ?? 1).toBeLessThan(0.6);
    expect((await program.use())?.memory).toBeGreaterThan(0);
    expect(runtime.limits().map(({ isEnforced }) => isEnforced)).toEqual([true, true, true, false]);
    await program.stop(0);
    expect(await program.use()).toBeUndefined();
  });

  test('one that heeds SIGTERM says its last words', async () => {
    const program = await open(
      `trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.1; done`,
    ).start(testSpec());
    const lines = collectLines(program);
    await expect.poll(() => lines).toContain('stdout: ready');
    await program.stop(30_000);
    expect(await program.ended).toEqual({ exitCode: 0, signal: null });
    expect(lines.at(-1)).toBe('stdout: bye');
  });

  test('what another life of the studio started is found again, with what it printed since', async () => {
    const script = 'i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done';
    const before = open(script);
    const spec = testSpec();
    const first = await before.start(spec);
    const early = collectLines(first);
    // Podman tells whole seconds: lines of the last one come again.
    await expect.poll(() => early.length).toBeGreaterThan(20);
    await before[Symbol.asyncDispose]();
    const linesAfterMs = Date.now();
    const program = await open(script).adopt(first.reference, { ...spec, linesAfterMs });
    if (!program) throw new Error('it does not run any more');
    const late = collectLines(program);
    await expect.poll(() => late.length).toBeGreaterThan(3);
    const numberOf = (line: string | undefined) => Number(line?.split(' ').at(-1));
    expect(numberOf(late[0])).toBeGreaterThan(numberOf(early[0]));
    await program.stop(0);
    expect(await open('').adopt(first.reference, spec)).toBeUndefined();
  });

  test('one that was removed by hand is lost', async () => {
    const program = await open('sleep 30').start(testSpec());
    await podman.podman('rm', '--force', '--time', '0', program.reference);
    const end = await program.ended;
    expect(['lost', 'out_of_memory']).toContain(end.reason);
  });

  test('a container left by a start that was not noted is replaced', async () => {
    const spec = testSpec();
    const first = await open('sleep 30').start(spec);
    const second = await open('sleep 30').start(spec);
    expect(second.reference).not.toBe(first.reference);
    await first.ended;
    await second.stop(0);
  });
});

test('an absent daemon is said in a sentence', async () => {
  await using runtime = new DockerRuntime({
    host: 'unix:///nowhere/docker.sock',
    image: testImage,
    network: 'none',
    processesMax: 50,
    filesMax: 512,
    hostInside: 'host.docker.internal',
  });
  expect(await runtime.missing()).toContain('no Docker daemon answers at unix:///nowhere');
  await expect(runtime.start(testSpec())).rejects.toMatchObject({ reason: 'runtime_unavailable' });
  expect(runtime.limits()[0]).toMatchObject({ isEnforced: false });
});
