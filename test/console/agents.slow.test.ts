import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page, WebSocketRoute } from 'playwright-core';
import { createRequest } from '../../src/mesh/certificates/request.ts';
import { browserProgram, ConsoleGround } from './browser.ts';

describe.skipIf(!browserProgram)('the agents area (skipped when there is no Chromium)', () => {
  let ground: ConsoleGround;
  let page: Page;

  beforeAll(async () => {
    ground = await ConsoleGround.open();
    page = await ground.openPage('/agents');
  });

  afterAll(() => ground?.[Symbol.asyncDispose]());

  /** Registers an agent that comes for its tasks and never does. */
  const register = (agentId: string, capability: string) =>
    ground.ask(page, 'mesh/api/v1/agents/register', { agentId, capabilities: [capability] });
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });

  test('lists the agents, and narrows the list by capability and status', async () => {
    await page.goto('/agents');
    await row('assistant-1').getByText('active').waitFor();
    expect(await row('assistant-1').textContent()).toContain('summarization');
    await page.getByLabel('Capability').fill('nothing-can-this');
    await page.getByText('No agent matches').waitFor();
    await page.getByLabel('Capability').fill('summarization');
    await row('assistant-1').waitFor();
    await page.getByLabel('Status').selectOption('offline');
    await page.getByText('No agent matches').waitFor();
  });

  test('pages through more agents than fit', async () => {
    const ids = Array.from({ length: 21 }, (_, index) => `b-${String(index).padStart(2, '0')}`);
    for (const id of ids) await register(id, 'bulk');
    await page.goto('/agents');
    await page.getByText('1 to 20 of 22').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('21 to 22 of 22').waitFor();
    await row('b-20').waitFor();
  });

  test('registers an agent, shows it, and deregisters it once that is confirmed', async () => {
    await page.goto('/agents');
    await page.getByRole('button', { name: 'Register an agent' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Id').fill('bad id');
    await dialog.getByRole('button', { name: 'Register', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Id').fill('a-clerk');
    await dialog.getByLabel('Capabilities').fill('filing, typing');
    await dialog.getByLabel('Metadata').fill('{"region": "eu"}');
    await dialog.getByRole('button', { name: 'Register', exact: true }).click();
    await page.getByRole('link', { name: 'a-clerk' }).click();
    await page.getByRole('heading', { name: 'Agents / a-clerk' }).waitFor();
    await page.getByText('"region": "eu"').waitFor();
    await row('agent-registered').getByText('filing, typing').waitFor();
    await page.getByRole('button', { name: 'Deregister …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deregister' }).click();
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
    await page.getByRole('link', { name: 'assistant-1' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'a-clerk' }).count()).toBe(0);
  });

  test('says in the words of the mesh that it knows no such agent', async () => {
    await page.goto('/agents/nobody');
    expect(await page.getByRole('alert').textContent()).toMatch(/nobody.*AGENT_NOT_FOUND/is);
  });

  test('has an agent do a task, and shows its result and its trace', async () => {
    await page.goto('/agents/assistant-1');
    await page.getByRole('link', { name: 'Run a task' }).click();
    await page.getByLabel('Type of the task').fill('chat');
    await page.getByLabel('Text, the prompt').fill('Hello');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const task = page.getByRole('article').first();
    await task.getByText('completed').waitFor();
    await task.getByText('Hello! How can I help you?', { exact: true }).waitFor();
    await task.getByText('by assistant-1').waitFor();
    const address = await task.getByRole('link', { name: 'Trace' }).getAttribute('href');
    const traceId = address?.split('/').at(-1) ?? '';
    await expect
      .poll(async () => JSON.stringify(await ground.ask(page, `tracer/api/v1/traces/${traceId}`)))
      .toContain('assistant-1');
  });

  test('cancels a task that nobody does, and refuses one to an agent that is not there', async () => {
    await register('c-idler', 'idling');
    await page.goto('/agents/tasks?agent=c-idler&type=idling');
    await page.getByRole('radio', { name: 'JSON' }).check();
    const input = page.getByLabel('A JSON object');
    await input.fill('[1]');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('the input must be a JSON object').waitFor();
    await input.fill('{"for": "long"}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const task = page.getByRole('article').first();
    await task.getByRole('button', { name: 'Cancel' }).click();
    await task.getByText('cancelled').first().waitFor();
    await page.getByRole('combobox', { name: /^Agent/ }).fill('nobody');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('AGENT_NOT_FOUND').first().waitFor();
  });

  test('tells of an agent the moment it is registered, and holds news back while it is paused', async () => {
    await page.goto('/agents/activity');
    await page.getByText('live', { exact: true }).waitFor();
    await register('d-first', 'news');
    await row('agent-registered').filter({ hasText: 'd-first' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await register('d-second', 'news');
    await page.getByRole('button', { name: 'Go on (1 new)' }).waitFor();
    expect(await row('d-second').count()).toBe(0);
    await page.getByRole('button', { name: 'Go on (1 new)' }).click();
    await row('d-second').waitFor();
    await page.getByLabel('Agents', { exact: true }).fill('d-first');
    await expect.poll(() => row('d-second').count()).toBe(0);
    await row('d-first').waitFor();
  });

  test('shows what came while the stream was away', async () => {
    const watcher = await ground.openPage();
    const sockets: WebSocketRoute[] = [];
    let isAway = false;
    await watcher.routeWebSocket(/activity\/stream$/, (socket) => {
      sockets.push(socket);
      if (isAway) void socket.close();
      else socket.connectToServer();
    });
    await watcher.goto('/agents/activity');
    await watcher.getByText('live', { exact: true }).waitFor();
    isAway = true;
    await Promise.all(sockets.map((socket) => socket.close()));
    await watcher.getByText('connecting', { exact: true }).waitFor();
    await register('e-late', 'lateness');
    isAway = false;
    const news = watcher.getByRole('row').filter({ hasText: 'e-late' });
    await news.waitFor();
    expect(await news.count()).toBe(1);
  });

  test('has agents decide together, with votes that their owner casts', async () => {
    await register('f-one', 'voting');
    await page.goto('/agents/swarms');
    await page.getByRole('button', { name: 'Create a swarm' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('release 1.0');
    await dialog.getByLabel('Question').fill('Ship it?');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('checkbox', { name: 'f-one' }).check();
    await dialog.getByText('1 equal votes of 1 decide').waitFor();
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Swarms / release 1.0' }).waitFor();
    await page.getByRole('button', { name: 'approve' }).click();
    await page.getByText('consensus-reached').waitFor();
    await page.getByText('1 approve, 0 reject, 0 abstain').waitFor();
    await page.getByText('the decision is the mesh’s word').waitFor();
    await page.getByRole('link', { name: 'Swarms' }).click();
    await row('release 1.0').getByText('consensus-reached').waitFor();
  });

  test('cancels a swarm once that is confirmed', async () => {
    await ground.ask(page, 'mesh/api/v1/swarms', {
      name: 'never mind',
      agents: ['f-one'],
      consensus: { timeout: 600_000 },
      task: { type: 'question' },
    });
    await page.goto('/agents/swarms');
    await page.getByRole('link', { name: 'never mind' }).click();
    await page.getByRole('button', { name: 'Cancel the swarm …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the swarm' }).click();
    await page.getByText('cancelled').first().waitFor();
  });

  test('issues a certificate for a request that is pasted, and refuses what is none', async () => {
    await page.goto('/agents/certificates');
    await page.getByText('SHA-256').first().waitFor();
    await page.getByLabel('Agent', { exact: true }).fill('f-one');
    await page.getByLabel('Certificate signing request').fill('no request');
    await page.getByRole('button', { name: 'Issue' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Certificate signing request').fill((await createRequest('f-one')).csr);
    await page.getByRole('button', { name: 'Issue' }).click();
    await page.getByText('Issued, good until').waitFor();
    const issued = page.getByRole('region', { name: 'The certificate' });
    expect(await issued.locator('pre').textContent()).toContain('BEGIN CERTIFICATE');
  });
});
