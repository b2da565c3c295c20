import { expect, test } from 'vitest';
import { connectionOf } from '../health/testing.ts';
import { ConnectionDirectory } from '../connections/directory.ts';
import { countConnections, MeteredTraffic, RegistryMetrics } from './registry-metrics.ts';

const health = {
  status: 'healthy',
  checksPerformed: 1,
  failedChecks: 0,
  failuresInRow: 0,
} as const;
const slow = { ...health, status: 'degraded' } as const;
const failing = { ...health, status: 'degraded', failuresInRow: 1 } as const;

test('what is slow has answered; what was never asked is neither well nor ill', () => {
  const connections = [
    connectionOf('new'),
    connectionOf('well', { health }),
    connectionOf('slow', { health: slow }),
    connectionOf('failing', { health: failing }),
    connectionOf('gone', { health: failing, status: 'disconnected' }),
  ];
  expect(countConnections(connections)).toEqual({ connections: 4, healthy: 2, unhealthy: 1 });
});

test('a call is counted once, by the name of its connection, and passed on', async () => {
  const directory = new ConnectionDirectory();
  directory.put(connectionOf('con_1', { name: 'files' }));
  const metrics = new RegistryMetrics({
    connections: () => directory.all(),
    children: () => 3,
    sessions: () => 2,
    isChecking: () => false,
  });
  const ended: string[] = [];
  const figures = {
    activeRequests: 1,
    requestsPerMinute: 0,
    totalRequests: 0,
    failedRequests: 0,
    inconclusiveRequests: 0,
    averageLatency: 0,
    p95Latency: 0,
  };
  const begin = (id: string, capability: string) => ({
    end: (outcome: string) => void ended.push(`${id} ${capability} ${outcome}`),
  });
  const traffic = new MeteredTraffic({ begin, figures: () => figures }, metrics, directory);
  const running = traffic.begin('con_1', 'read');
  running.end('error');
  running.end('success');
  traffic.begin('con_2', 'read').end('success');
  expect(ended).toEqual(['con_1 read error', 'con_1 read success', 'con_2 read success']);
  expect(traffic.figures('con_1')).toBe(figures);
  const text = await metrics.metrics.text();
  expect(text).toContain('registry_calls_total{connection="files",outcome="error"} 1');
  expect(text).not.toContain('connection="files",outcome="success"');
  expect(text).toContain('registry_calls_total{connection="unknown",outcome="success"} 1');
  expect(text).toContain('registry_call_seconds_count 2');
  expect(text).toContain('registry_children 3');
  expect(text).toContain('registry_health_checking 0');
});
