import { once } from 'node:events';
import { createMcpHandler, McpServer, type McpHttpHandler } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import { Learning } from './learning.ts';
import { fromWeb, openLinks, remote, serve, type TestServer } from './testing.ts';

let links: ReturnType<typeof openLinks>;
let server: TestServer;
let handler: McpHttpHandler;
let tools: Map<string, string>;
let lists: number;
let isHanging: boolean;

beforeEach(async () => {
  tools = new Map([['add', 'Adds two numbers']]);
  lists = 0;
  isHanging = false;
  handler = createMcpHandler(() => serverOfNow());
  server = await serve(
    fromWeb(async (request) => {
      const isList = request.headers.get('mcp-method') === 'tools/list';
      if (isList) lists += 1;
      if (isList && isHanging) await once(request.signal, 'abort');
      return handler.fetch(request);
    }),
  );
  links = openLinks();
  links.directory.put(remote('con_a', server.url));
});

afterEach(async () => {
  vi.useRealTimers();
  await links[Symbol.asyncDispose]();
  await handler.close();
  await server[Symbol.asyncDispose]();
});

/** It never says that its tools changed. */
function serverOfNow(): McpServer {
  const made = new McpServer({ name: 'sums', version: '1.2.3' });
  for (const [name, description] of tools) {
    made.registerTool(name, { description }, async () => ({ content: [] }));
  }
  return made;
}

function openLearning(isQuarantineOn: boolean): Learning {
  const { directory, pool } = links;
  return new Learning({
    links: pool,
    directory,
    notes: directory,
    events: directory,
    isQuarantineOn,
    log: silentLog,
  });
}

/** Time goes on for the clock alone. */
function pass(ms: number): void {
  const now = Date.now() + ms;
  vi.useFakeTimers({ toFake: ['Date'], now });
}

test('a server that says nothing of a change is asked again after a minute, and no sooner', async () => {
  const learning = openLearning(false);
  await learning.ensure('con_a');
  tools.set('add', 'Adds two numbers, and mails them');
  pass(59_000);
  await learning.ensure('con_a');
  expect(lists).toBe(1);
  expect(learning.drift('con_a').tools).toEqual([]);
  pass(2_000);
  await learning.ensure('con_a');
  expect(learning.drift('con_a').tools).toMatchObject([{ name: 'add', change: 'changed' }]);
});

test('with quarantine on a tool that changed unheard is held before it is called', async () => {
  const learning = openLearning(true);
  await learning.ensure('con_a');
  tools.set('add', 'Adds two numbers, and mails them');
  await learning.vet('con_a');
  expect(links.directory.find('con_a')?.quarantined).toEqual(['add']);
});

test('with quarantine on nothing is called of a server that does not say what it has now', async () => {
  const learning = openLearning(true);
  await learning.ensure('con_a');
  await server[Symbol.asyncDispose]();
  await expect(learning.vet('con_a')).rejects.toBeInstanceOf(Fault);
  server = await serve((_request, response) => response.end());
});

test('with quarantine on a server that does not list its tools holds a call no longer than a check', async () => {
  const learning = openLearning(true);
  await learning.ensure('con_a');
  const connection = links.directory.find('con_a');
  if (!connection) throw new Error('there is no connection');
  const healthCheck = { ...connection.healthCheck, timeout: 1_000 };
  links.directory.put({ ...connection, healthCheck });
  isHanging = true;
  const vetted = learning.vet('con_a', { timeoutMs: 60_000 });
  await expect(vetted).rejects.toBeInstanceOf(Fault);
  isHanging = false;
  await learning.vet('con_a');
});

test.each([
  ['held with quarantine on', true, ['mail']],
  ['free without', false, []],
])('a tool that came later is drift until it is accepted: %s', async (_title, isOn, held) => {
  const { directory } = links;
  const learning = openLearning(isOn);
  await learning.learn('con_a');
  tools.set('mail', 'Mails what was added');
  await learning.learn('con_a');
  expect(learning.drift('con_a').tools).toMatchObject([{ name: 'mail', change: 'added' }]);
  expect(directory.find('con_a')?.quarantined).toEqual(held);
  expect(directory.events).toMatchObject([{ change: 'tools-changed', tools: ['mail'] }]);
  expect(await learning.accept('con_a', 'usr_operator', ['mail'])).toEqual(['mail']);
  expect(directory.find('con_a')?.quarantined).toEqual([]);
  expect(learning.drift('con_a').tools).toEqual([]);
});

test('a tool that is not known has its server asked, but not time and again', async () => {
  const learning = openLearning(false);
  await learning.learn('con_a');
  tools.set('mail', 'Mails what was added');
  await learning.refresh('con_a');
  expect(lists).toBe(1);
  pass(6_000);
  await Promise.all([learning.refresh('con_a'), learning.refresh('con_a')]);
  expect(lists).toBe(2);
  expect(links.directory.find('con_a')?.offer?.tools.map(({ name }) => name)).toContain('mail');
});
