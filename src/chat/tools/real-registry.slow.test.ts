import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Tracer } from '../../kit/trace/trace.ts';
import { startRegistry } from '../../registry/testing.ts';
import { createCallerClients } from '../caller-clients.ts';
import type { Caller } from '../caller.ts';
import { aCaller } from '../voice/testing.ts';
import { RegistryTools } from './registry-tools.ts';
import { startEverything } from './testing.ts';

let server: Awaited<ReturnType<typeof startEverything>>;
let registry: Awaited<ReturnType<typeof startRegistry>>;
let tools: RegistryTools;
let caller: Caller;

beforeAll(async () => {
  server = await startEverything();
  registry = await startRegistry();
  const register = await registry.callAs('usr_admin');
  await register('POST', '/connections', {
    name: 'every.thing',
    type: 'server',
    protocol: 'http',
    endpoint: { url: server.url },
  });
  const peers = [{ name: 'registry', url: registry.url, grants: [] }];
  const clients = createCallerClients({ peers, tracer: new Tracer(() => {}) });
  tools = new RegistryTools({ clients, callTimeoutMs: 2_000 });
  caller = await callerWith(['registry:call']);
  await vi.waitFor(async () => {
    // What is kept for a caller would be the empty list of the beginning.
    expect(await tools.list(await callerWith([]))).not.toEqual([]);
  });
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

let callers = 0;

async function callerWith(permissions: readonly string[]): Promise<Caller> {
  callers += 1;
  const subject = `usr_${callers}`;
  const { identity } = aCaller(subject, permissions);
  return { identity, credential: await registry.tokenOf(subject, permissions) };
}

const rules = { allow: ['every.thing__*'], approval: 'writes' } as const;
const signal = new AbortController().signal;

async function call(name: string, input: object, who = caller) {
  const listed = await tools.list(who);
  const tool = listed.find(({ id }) => id === `every.thing__${name}`);
  const asked = { id: 'call_1', name: tool?.name ?? '', arguments: JSON.stringify(input) };
  return tools.call(who, rules, asked, signal);
}

test('a server’s tools are offered, and those that write need approval', async () => {
  await tools.check(caller, rules);
  const offers = await tools.offers(caller, rules);
  const approved = new Map(offers.map(({ name, needsApproval }) => [name, needsApproval]));
  for (const name of approved.keys()) expect(name).toMatch(/^every_thing__[\w-]+_[0-9a-f]{8}$/);
  expect(new Set(approved.values())).toEqual(new Set([true, false]));
  const nothing = tools.check(caller, { ...rules, allow: ['every.thing__nothing'] });
  await expect(nothing).rejects.toMatchObject({ reason: 'tool_not_found' });
});

test('a call answers what the tool says, whatever it is', async () => {
  expect(await call('echo', { message: 'ä😀' })).toEqual({ content: 'Echo: ä😀', isError: false });
  const weather = await call('get-structured-content', { location: 'New York' });
  expect(weather.content).toContain('"temperature"');
  const image = await call('get-tiny-image', {});
  expect(image.content).toMatch(/\[image, image\/png, \d+ (bytes|kB)\]/);
  const links = await call('get-resource-links', { count: 1 });
  expect(links.content).toContain('[link to the resource ');
});

test('wrong arguments go back to the model as an error that it can read', async () => {
  const outcome = await call('echo', { message: 7 });
  expect(outcome.isError).toBe(true);
  expect(outcome.content).toContain('message');
});

test('who may call no tools is refused by the registry itself', async () => {
  const nobody = await callerWith([]);
  const outcome = await call('echo', { message: 'x' }, nobody);
  expect(outcome).toMatchObject({
    isError: true,
    content: expect.stringContaining('registry:call'),
  });
});

test('a call that takes too long says that nobody knows whether it was done', async () => {
  const outcome = await call('trigger-long-running-operation', { duration: 5, steps: 1 });
  expect(outcome).toMatchObject({ isError: true, content: expect.stringContaining('not known') });
});

test('a call that is stopped ends at once', async () => {
  const controller = new AbortController();
  const listed = await tools.list(caller);
  const slow = listed.find(({ id }) => id.endsWith('trigger-long-running-operation'));
  const asked = { id: 'c', name: slow?.name ?? '', arguments: '{"duration":60,"steps":1}' };
  const began = performance.now();
  const running = tools.call(caller, rules, asked, controller.signal);
  setTimeout(() => controller.abort(new Error('stopped')), 100);
  await expect(running).rejects.toThrow('stopped');
  expect(performance.now() - began).toBeLessThan(1_500);
});
