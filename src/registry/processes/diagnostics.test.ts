import { afterAll, beforeAll, expect, test } from 'vitest';
import { detectLauncher } from './bounds.ts';
import { formatMemory, formatShare } from './diagnostics.ts';
import { readProcess, readProcessTable, readPsLine } from '../../kit/processes/process-table.ts';
import { listen, openProcessGround, type ProcessGround } from './testing.ts';
import { UsageMeter } from '../../kit/processes/usage.ts';

let ground: ProcessGround;

beforeAll(async () => {
  ground = await openProcessGround();
});

afterAll(async () => ground[Symbol.asyncDispose]());

test('a busy process and its child are measured together', async () => {
  const order = await ground.write(`
    import { spawn } from 'node:child_process';
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); process.stdout.write("up")'])
      .stdout.once('data', () => process.stdout.write('{"jsonrpc":"2.0","method":"ready"}\\n'));
    console.error('I am busy');
    const spin = () => { const end = Date.now() + 50; while (Date.now() < end); setImmediate(spin); };
    spin();
    process.stdin.on('end', () => process.exit(0)).resume();`);
  const server = await ground.supervision.spawn(order);
  await (await listen(server)).next();
  const found = await server.diagnostics();
  expect(found).toMatchObject({
    processRunning: true,
    pid: server.pid,
    processes: 2,
    memoryUsage: expect.stringMatching(/^\d+ MB$/),
    cpuUsage: expect.stringMatching(/^\d+(\.\d)?%$/),
    sandbox: 'none',
    stderr: 'I am busy',
    limits: { treeMemoryBytes: 1_073_741_824, treeProcesses: 256, niceness: 5 },
  });
  expect(found.memoryBytes).toBeGreaterThan(40_000_000);
  expect(found.cpuPercent).toBeGreaterThan(1);
  expect(await ground.supervision.diagnostics(order.id)).toMatchObject({ processes: 2 });
  await server.transport.close();
  expect(await ground.supervision.diagnostics(order.id)).toMatchObject({ processRunning: false });
});

test('a connection that never ran a process says so', async () => {
  expect(await ground.supervision.diagnostics('con_unknown')).toEqual({ processRunning: false });
});

test('only limits that this host enforces are claimed', async () => {
  const { prefix, bounds } = await detectLauncher({
    memoryBytes: 1_048_576,
    processesMax: 9,
    niceness: 5,
  });
  const isEnforced = prefix.includes('--data=2097152:2097152');
  expect('processDataBytes' in bounds.limits).toBe(isEnforced);
  expect(bounds.sandbox).toBe('none');
});

test('the limits that are claimed are in force in the process', async () => {
  const order = await ground.write(`
    import { readFileSync } from 'node:fs';
    import { getPriority } from 'node:os';
    process.stdin.once('data', () => {
      const limits = readFileSync('/proc/self/limits', 'utf8');
      const read = (name) => limits.split(name)[1].trim().split(/ +/).slice(0, 2);
      const result = { data: read('Max data size'), core: read('Max core file size'), nice: getPriority() };
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: 1, result }) + '\\n');
    });
    process.stdin.on('end', () => process.exit(0)).resume();`);
  const server = await ground.supervision.spawn(order);
  const heard = await listen(server);
  await server.transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const answer = await heard.next();
  const { limits = {} } = await server.diagnostics();
  await server.transport.close();
  const { processDataBytes, coreFileBytes, niceness } = limits;
  if (processDataBytes !== undefined) {
    const twice = (limit: number | undefined) => [String(limit), String(limit)];
    const own = { data: twice(processDataBytes), core: twice(coreFileBytes), nice: niceness };
    expect(answer).toHaveProperty('result', own);
  } else expect(answer).toHaveProperty('result.nice', niceness);
});

test('the use of a processor is a share between two samples', () => {
  const entry = { pid: 2, parent: 1, group: 2, session: 2, startedAt: '1', cpuMs: 1000 };
  const meter = new UsageMeter();
  expect(meter.sample([entry], 0)).toBeUndefined();
  expect(meter.sample([{ ...entry, cpuMs: 1250 }], 1000)).toBe(25);
  expect(meter.sample([{ ...entry, cpuMs: 1260 }], 1001)).toBe(25);
  const reused = { ...entry, startedAt: '2', cpuMs: 500 };
  expect(meter.sample([reused], 2000)).toBe(50);
  expect(meter.sample([], 3000)).toBe(0);
});

test('figures are written as people read them', () => {
  expect(formatMemory(112_197_632)).toBe('107 MB');
  expect(formatShare(1.46)).toBe('1.5%');
  expect(formatShare(0)).toBe('0%');
});

test('this process is in the table of processes', async () => {
  const own = await readProcess(process.pid);
  expect(own).toMatchObject({ pid: process.pid, parent: process.ppid });
  expect((await readProcessTable()).get(process.pid)?.startedAt).toBe(own?.startedAt);
});

test('lines of ps are read where there is no /proc', () => {
  const line = '  12  1  12 S+  1-02:03:04.50 Sat Nov 22 01:02:03 2026';
  expect(readPsLine(line.trim().split(/\s+/))).toEqual([
    {
      pid: 12,
      parent: 1,
      group: 12,
      session: 12,
      startedAt: 'Sat Nov 22 01:02:03 2026',
      cpuMs: (86_400 + 2 * 3600 + 3 * 60 + 4.5) * 1000,
    },
  ]);
  expect(readPsLine('12 1 12 Z 0:00 Sat Nov 22 01:02:03 2026'.split(' '))).toEqual([]);
  expect(readPsLine([''])).toEqual([]);
});
