import { Client, loadPackageDefinition, status, type ChannelCredentials } from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { issueFor } from '../certificates/testing.ts';
import { loadDefinition, methodOf } from './definition.ts';
import { fixedCredentials, startMeshGrpc } from './testing.ts';

type Reflection = new (
  target: string,
  channel: ChannelCredentials,
) => { ServerReflectionInfo(): Duplex; close(): void };

/** What the loader makes of a reflection service. */
interface ReflectionPackage {
  readonly grpc: {
    readonly reflection: Readonly<Record<string, { readonly ServerReflection: Reflection }>>;
  };
}

const require = createRequire(import.meta.url);

let mesh: Awaited<ReturnType<typeof startMeshGrpc>>;
let channel: ChannelCredentials;
let isWorking: boolean;

beforeEach(async () => {
  isWorking = true;
  mesh = await startMeshGrpc({ isWorking: () => Promise.resolve(isWorking) });
  channel = fixedCredentials(await issueFor(mesh.authority, 'a1', 'usr_1'));
});

afterEach(() => mesh[Symbol.asyncDispose]());

async function openWatcher() {
  const { health } = await loadDefinition();
  const { path, requestSerialize, responseDeserialize } = health['Watch']!;
  expect(path).toBe(methodOf(health, 'Watch').path);
  const client = new Client(mesh.target, channel);
  const watch = (service: string) => {
    const seen: unknown[] = [];
    const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {
      service,
    });
    stream.on('data', (answer) => seen.push(answer));
    stream.on('error', () => {});
    const ended = new Promise((resolve) => stream.on('status', ({ code }) => resolve(code)));
    return { seen, stream, ended };
  };
  return { client, watch };
}

test('who watches the health is told at once, and when the server is about to stop', async () => {
  const { client, watch } = await openWatcher();
  const whole = watch('');
  const unknown = watch('other');
  const left = watch('ennead.mesh.v1.ACAPProtocol');
  const all = [whole, unknown, left];
  await expect.poll(() => all.every(({ seen }) => seen.length === 1)).toBe(true);
  expect(unknown.seen).toEqual([{ status: 'SERVICE_UNKNOWN' }]);
  left.stream.cancel();
  expect(await left.ended).toBe(status.CANCELLED);
  await mesh.server[Symbol.asyncDispose]();
  expect(await whole.ended).toBe(status.OK);
  expect(whole.seen).toEqual([{ status: 'SERVING' }, { status: 'NOT_SERVING' }]);
  client.close();
});

test('who watches the health is told when what calls need does not answer, and when it does again', async () => {
  const { client, watch } = await openWatcher();
  const { seen } = watch('');
  const [up, down] = [{ status: 'SERVING' }, { status: 'NOT_SERVING' }];
  await expect.poll(() => seen).toEqual([up]);
  isWorking = false;
  await expect.poll(() => seen).toEqual([up, down]);
  isWorking = true;
  await expect.poll(() => seen).toEqual([up, down, up]);
  client.close();
});

test.each(['v1', 'v1alpha'])('reflection %s tells of services and files', async (version) => {
  const path = require.resolve('@grpc/reflection');
  const folder = join(dirname(path), '../proto/grpc/reflection', version);
  const loaded = loadPackageDefinition(await load(join(folder, 'reflection.proto')));
  const { reflection } = (loaded as unknown as ReflectionPackage).grpc;
  const { ServerReflection } = reflection[version]!;
  const client = new ServerReflection(mesh.target, channel);
  const stream = client.ServerReflectionInfo();
  const answers: Record<string, unknown>[] = [];
  stream.on('data', (answer) => answers.push(answer));
  const ended = new Promise((resolve) => stream.on('status', ({ code }) => resolve(code)));
  stream.write({ listServices: '*' });
  stream.write({ fileContainingSymbol: 'ennead.mesh.v1.AgentRegistration' });
  stream.write({ fileContainingSymbol: 'ennead.mesh.v1.Nothing' });
  await expect.poll(() => answers.length).toBe(3);
  stream.end();
  expect(await ended).toBe(status.OK);
  client.close();
  expect(answers).toMatchObject([
    {
      listServicesResponse: {
        service: expect.arrayContaining([{ name: 'ennead.mesh.v1.SwarmCoordination' }]),
      },
    },
    { fileDescriptorResponse: { fileDescriptorProto: expect.any(Array) } },
    { errorResponse: { errorCode: status.NOT_FOUND } },
  ]);
});
