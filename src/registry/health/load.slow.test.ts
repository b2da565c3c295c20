import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createRequire } from 'node:module';
import { afterEach, expect, test } from 'vitest';
import { findFreePort } from '../../kit/testing.ts';
import { startRegistry } from '../testing.ts';

type Registry = Awaited<ReturnType<typeof startRegistry>>;

let registry: Registry | undefined;

afterEach(async () => {
  await registry?.[Symbol.asyncDispose]();
});

test('a thousand that fail at once neither stall the process nor flood the tables', async () => {
  registry = await startRegistry();
  const { database, callAs } = registry;
  const call = await callAs('usr_owner');
  const url = `http://127.0.0.1:${await findFreePort()}/mcp`;
  const ids: string[] = [];
  for (let at = 0; at < 1_000; at += 50) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, place) =>
        call('POST', '/connections', {
          name: `down-${at + place}`,
          type: 'server',
          protocol: 'http',
          endpoint: { url },
          capabilities: [],
          healthCheck: { enabled: true, interval: 3_600, timeout: 2_000 },
        }),
      ),
    );
    ids.push(...answers.map(({ body }) => body.id as string));
  }
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  for (let round = 0; round < 3; round += 1) {
    const { body } = await call('POST', '/connections/health-check/batch', {
      connectionIds: ids,
      timeout: 60_000,
    });
    expect(body.summary).toEqual({ total: 1_000, healthy: 0, unhealthy: 1_000 });
  }
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(3_000);
  const { body } = await call('GET', '/connections?status=error&limit=1');
  expect(body.filtered).toBe(1_000);
  const [row] = await database.query<{ count: number }>(
    'select count(*)::int as count from registry.connection_history',
  );
  // Registered, degraded, error in health and in status: changes alone, however often it fails.
  expect(row?.count).toBeLessThanOrEqual(4_000);
});

test('a process is checked, shown, and ended with its connection', async () => {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  );
  const allow = `${process.execPath} ${script} stdio`;
  registry = await startRegistry({ environment: { REGISTRY_STDIO_ALLOW: allow } });
  const call = await registry.callAs('usr_operator', ['registry:write', 'registry:execute']);
  const { body: made } = await call('POST', '/connections', {
    name: 'everything',
    type: 'server',
    protocol: 'stdio',
    endpoint: { command: process.execPath, args: [script, 'stdio'] },
    capabilities: [],
    healthCheck: { enabled: true, interval: 3_600, timeout: 20_000 },
  });
  const { status, body } = await call('POST', `/connections/${made.id}/health-check`);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      health: { status: 'healthy' },
      diagnostics: {
        processRunning: true,
        pid: expect.any(Number),
        memoryUsage: expect.stringMatching(/^\d+ MB$/),
        cpuUsage: expect.stringMatching(/^[\d.]+%$/),
        sessionEra: 'legacy',
      },
    },
  });
  await call('DELETE', `/connections/${made.id}`);
  await expect.poll(() => isAlive(body.diagnostics.pid)).toBe(false);
});

test.each(['read line; echo "Usage: tool serve"', 'echo "Usage: tool serve"'])(
  'a command that is no MCP server, such as %s, is told of by what it wrote',
  async (script) => {
    registry = await startRegistry({ environment: { REGISTRY_STDIO_ALLOW: 'sh -c **' } });
    const call = await registry.callAs('usr_operator', ['registry:write', 'registry:execute']);
    const { body: made } = await call('POST', '/connections', {
      name: 'mistaken',
      type: 'server',
      protocol: 'stdio',
      endpoint: { command: 'sh', args: ['-c', script] },
      capabilities: [],
      healthCheck: { enabled: true, interval: 3_600, timeout: 5_000 },
    });
    const readReasons = async () => {
      const { body } = await call('GET', `/connections/${made.id}/history`);
      return (body.changes as { reason?: string }[]).map(({ reason }) => reason);
    };
    await expect.poll(readReasons).toContain('not_mcp');
    const { body } = await call('POST', `/connections/${made.id}/health-check`);
    expect(body.diagnostics).toMatchObject({
      processRunning: false,
      stdoutTail: 'Usage: tool serve',
      lastEnd: "the server's process wrote what is no MCP, and ended with exit code 0",
    });
  },
);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
