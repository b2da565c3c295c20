import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../testing.ts';

/** More than Node lets listen to one signal before it warns. */
const count = 12;

test('a dozen providers are asked for their models at once, and nothing is warned of', async () => {
  const warnings: string[] = [];
  const hear = ({ name }: Error) => void warnings.push(name);
  process.on('warning', hear);
  onTestFinished(() => void process.off('warning', hear));
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => void waiting.push(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const folder = await mkdtemp(join(tmpdir(), 'ennead-many-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const names = Array.from({ length: count }, (_none, at) => `many-${at}`);
  const providers = Object.fromEntries(
    names.map((name) => [name, { dialect: 'openai', baseUrl, apiKey: name }]),
  );
  const path = join(folder, 'providers.json');
  await writeFile(path, JSON.stringify({ providers }));
  await using gateway = await startGateway({ environment: { GATEWAY_CONFIG: path } });
  await expect.poll(() => waiting.length).toBe(count);
  for (const response of waiting) {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ data: [{ id: 'm' }] }));
  }
  const listed = async () => (await gateway.asAdmin('GET', '/api/v1/providers')).body.providers;
  await expect
    .poll(async () => (await listed()).filter(({ models }: Listed) => models.length > 0))
    .toHaveLength(count);
  expect(warnings).not.toContain('MaxListenersExceededWarning');
});

interface Listed {
  readonly models: readonly unknown[];
}
