import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processEnvironment } from '../../kit/config.ts';
import { newId } from '../../kit/ids.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openLocalRuntime, type LocalOptions } from './local/local-runtime.ts';
import type { ProgramIdentity, RunningProgram, RuntimeSpec } from './runtime.ts';

/** An identity whose addresses lead nowhere. */
export function testIdentity(agentId: string): ProgramIdentity {
  const url = 'http://127.0.0.1:9';
  return {
    agentId,
    name: 'Test',
    template: 'assistant',
    capabilities: ['test'],
    urls: { mesh: url, auth: url, gateway: url, registry: url, studio: url, tracer: url },
    apiKey: 'enn_test_secret',
  };
}

/** What to start, with room for a small program. */
export function testSpec(given: Partial<RuntimeSpec> = {}): RuntimeSpec {
  const agentId = newId('agt');
  return { agentId, resources: { cpu: 0.5, memory: 256 * 2 ** 20 }, ...given };
}

/** The lines that a program prints from now on. */
export function collectLines(program: RunningProgram): string[] {
  const lines: string[] = [];
  program.onLine(({ stream, text }) => lines.push(`${stream}: ${text}`));
  return lines;
}

/** A runtime of this machine whose program is the given JavaScript, in a folder of its own. */
export async function openTestRuntime(script: string, given: Partial<LocalOptions> = {}) {
  const lifetime = new Lifetime(silentLog);
  const folder = await mkdtemp(join(tmpdir(), 'studio-runtime-'));
  lifetime.defer('the folder', () => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'program.mjs');
  await writeFile(file, script);
  const options: LocalOptions = {
    command: (nodeOptions) => [process.execPath, ...nodeOptions, file],
    folder: join(folder, 'agents'),
    log: silentLog,
    environment: processEnvironment(),
    processesMax: 40,
    filesMax: 1_024,
    ...given,
  };
  const runtime = lifetime.own('the runtime', await openLocalRuntime(options));
  return {
    runtime,
    folder,
    file,
    options,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}
