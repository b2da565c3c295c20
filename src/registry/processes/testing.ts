import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Environment } from '../../kit/config.ts';
import { silentLog } from '../../kit/testing.ts';
import { AllowList } from './allow-list.ts';
import { detectLauncher } from './bounds.ts';
import { readProcessTable } from '../../kit/processes/process-table.ts';
import type { SpawnedServer, SpawnOrder } from './spawned.ts';
import { Supervision, type SupervisionOptions } from './supervision.ts';

export interface ProcessGround extends AsyncDisposable {
  readonly folder: string;
  readonly supervision: Supervision;
  /** Writes a program for Node and gives an approved order to run it. */
  write(text: string, order?: Partial<SpawnOrder>): Promise<SpawnOrder>;
  /** A second supervision of the same folder. */
  reopen(options?: Partial<SupervisionOptions>): Promise<Supervision>;
}

export const approval = { approvedBy: 'tests', approvedAtMs: 0 };

/** A supervision with a folder of its own, that allows Node and `cat` with any arguments. */
export async function openProcessGround(
  options: Partial<SupervisionOptions> & {
    readonly allow?: string;
    readonly base?: Environment;
  } = {},
): Promise<ProcessGround> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'registry-processes-')));
  const base = options.base ?? { PATH: process.env['PATH'], HOME: folder };
  const memoryMaxBytes = options.memoryMaxBytes ?? 1_073_741_824;
  const processesMax = options.processesMax ?? 256;
  const open = async (more: Partial<SupervisionOptions> = {}) =>
    Supervision.open({
      allowList: new AllowList(options.allow ?? `${process.execPath}; cat`, base['PATH'] ?? ''),
      folder: join(folder, 'processes'),
      environment: base,
      launcher: await detectLauncher({ memoryBytes: memoryMaxBytes, processesMax, niceness: 5 }),
      childrenMax: 8,
      memoryMaxBytes,
      processesMax,
      frameMaxBytes: 1_048_576,
      log: silentLog,
      ...options,
      ...more,
    });
  const supervision = await open();
  let count = 0;
  return {
    folder,
    supervision,
    reopen: open,
    write: async (text, order) => {
      count += 1;
      const id = `con_${count}`;
      const file = join(folder, `server-${count}.mjs`);
      await writeFile(file, text);
      const endpoint = { command: process.execPath, args: [file] };
      return { id, endpoint, approval, ...order };
    },
    [Symbol.asyncDispose]: async () => {
      await supervision[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What came over a transport, and a way to wait for it. */
export interface Heard {
  readonly messages: JSONRPCMessage[];
  readonly errors: Error[];
  closedCount: number;
  /** Rejects when the transport closes first. */
  next(): Promise<JSONRPCMessage>;
}

/** Starts a server's transport and listens to it. */
export async function listen({ transport }: SpawnedServer): Promise<Heard> {
  const waiting: { resolve: (message: JSONRPCMessage) => void; reject: (error: Error) => void }[] =
    [];
  const unread: JSONRPCMessage[] = [];
  const heard: Heard = {
    messages: [],
    errors: [],
    closedCount: 0,
    next: async () => {
      const first = unread.shift();
      return first ?? new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
  };
  const handlers: Pick<Transport, 'onmessage' | 'onerror' | 'onclose'> = {
    onmessage: (message) => {
      heard.messages.push(message);
      const waiter = waiting.shift();
      if (waiter) waiter.resolve(message);
      else unread.push(message);
    },
    onerror: (error) => heard.errors.push(error),
    onclose: () => {
      heard.closedCount += 1;
      for (const { reject } of waiting.splice(0)) reject(heard.errors[0] ?? new Error('closed'));
    },
  };
  Object.assign(transport, handlers);
  await transport.start();
  return heard;
}

/** Whether a process is there that has not ended. */
export async function isAlive(pid: number): Promise<boolean> {
  return (await readProcessTable()).has(pid);
}
