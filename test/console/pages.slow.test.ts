import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { browserProgram, ConsoleGround } from './browser.ts';

describe.skipIf(!browserProgram)("the console's pages (skipped when there is no Chromium)", () => {
  let ground: ConsoleGround;
  let page: Page;

  beforeAll(async () => {
    ground = await ConsoleGround.open();
    page = await ground.openPage();
  });

  afterAll(() => ground[Symbol.asyncDispose]());

  test.each([
    ['/nowhere', 'There is no such page'],
    ['/agents/a/b/c', 'There is no such page'],
    ['/chat/a/b', 'There is no such page'],
    ['/chat/none', 'Conversation'],
    ['/workflows/none', 'Workflow'],
    ['/workflows/none/executions/none', 'Execution'],
    ['/workflows/none/batches/none', 'Batch'],
    ['/studio/none', 'Studio / none'],
    ['/models/none', 'Models'],
  ])('have one heading where nothing is: %s', async (path, title) => {
    await page.goto(path);
    await page
      .getByText(/there is no such/i)
      .first()
      .waitFor();
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual([title]);
    await expect.poll(() => page.title()).toBe(`${title} · Ennead`);
  });

  test.each(['/workflows/executions', '/traces', '/agents', '/tools', '/models', '/access'])(
    'have the name of their area above the way between them: %s',
    async (path) => {
      await page.goto(path);
      const title = await page.getByRole('heading', { level: 1 }).boundingBox();
      const tabs = await page.locator('.page > nav').boundingBox();
      expect((title?.y ?? Infinity) + (title?.height ?? 0)).toBeLessThanOrEqual(tabs?.y ?? 0);
    },
  );

  test('name for who hears them what is above the buttons of rows, and links as who sees them', async () => {
    await page.goto('/models/local');
    await page.getByRole('columnheader', { name: 'Actions' }).waitFor();
    await page.goto('/');
    await page.getByRole('link', { name: 'Documentation of Ennead Mesh' }).waitFor();
  });

  test('lead the keyboard past the bar', async () => {
    await page.goto('/agents');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    await expect.poll(async () => (await skip.boundingBox())?.y).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator('main :focus').count()).toBe(1);
    expect(page.url()).not.toContain('#');
  });

  test('offer nobody what they may not do, and say which permission it takes', async () => {
    const person = { username: 'reader', password: 'correct horse battery staple' };
    const user = { ...person, email: 'reader@example.com', name: 'Reader', roles: ['user'] };
    await ground.ask(page, 'auth/api/v1/auth/users', user);
    const reading = await ground.openPage('/', person);
    await reading.getByRole('heading', { name: 'Services' }).waitFor();
    expect(await reading.getByRole('alert').count()).toBe(0);
    for (const [path, button, permission] of [
      ['/agents', 'Register an agent', 'mesh:communicate'],
      ['/tools', 'Register a server', 'registry:write'],
      ['/workflows/templates', 'Use this: ', 'workflow:create'],
      ['/workflows/new', 'Condition', 'workflow:create'],
    ] as const) {
      await reading.goto(path);
      const reason = reading.getByRole('group', {
        name: `This needs the permission ${permission}`,
      });
      expect(await reason.getByRole('button', { name: button }).first().isDisabled()).toBe(true);
      await page.goto(path);
      expect(await page.getByRole('button', { name: button }).first().isEnabled()).toBe(true);
    }
    await reading.goto('/workflows/tpl_summarize_text');
    const step = reading.locator('.workflow-step').first();
    await step.click();
    expect(await reading.getByLabel('Label').isDisabled()).toBe(true);
    await reading.keyboard.press('ArrowRight');
    await reading.keyboard.press('Delete');
    expect(await step.count()).toBe(1);
    expect(await reading.getByText('not saved').count()).toBe(0);
  });

  test('begin at once below the bar on a phone, however short they are', async () => {
    const wide = page.viewportSize() ?? { width: 1280, height: 720 };
    await page.setViewportSize({ width: 360, height: 780 });
    await page.goto('/tools/virtual-servers');
    const bar = await page.getByRole('navigation', { name: 'Areas' }).boundingBox();
    const title = await page.getByRole('heading', { level: 1 }).boundingBox();
    await page.setViewportSize(wide);
    expect(bar?.height).toBeLessThan(160);
    expect((title?.y ?? Infinity) - (bar?.height ?? 0)).toBeLessThan(60);
  });

  test('keep a long name from pushing the rest of its row out of sight', async () => {
    const agentId = 'n'.repeat(128);
    await ground.ask(page, 'mesh/api/v1/agents/register', {
      agentId,
      capabilities: ['c'.repeat(100)],
      metadata: {},
      endpoints: { rest: 'http://127.0.0.1:9' },
    });
    await page.goto('/agents');
    const row = page.getByRole('row').filter({ hasText: agentId });
    await row.waitFor();
    const table = await page.locator('.table-frame').boundingBox();
    const load = await row.getByRole('meter').boundingBox();
    expect(load?.x).toBeLessThan((table?.x ?? 0) + (table?.width ?? 0));
  });

  test('are no wider than a phone, however wide the table in them is', async () => {
    const nodes = [{ id: 'say', type: 'LLMNode', data: { prompt: 'Hello' } }];
    const flow = { name: 'Greeting', flow: { nodes, edges: [] } };
    await ground.ask(page, 'workflow/api/v1/workflows', flow);
    const wide = page.viewportSize() ?? { width: 1280, height: 720 };
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto('/workflows');
    await page.getByRole('link', { name: 'Greeting', exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.setViewportSize(wide);
  });

  test('are no wider than the narrowest phone, however wide the charts in them like to be', async () => {
    const wide = page.viewportSize() ?? { width: 1280, height: 720 };
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto('/traces/metrics');
    await page.locator('figure.chart').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await page.setViewportSize(wide);
  });

  test('take a tap on a component of a workflow for what a mouse does twice', async () => {
    const storageState = await page.context().storageState();
    const phone = await ground.newPage({ hasTouch: true, storageState });
    await phone.goto('/workflows/new');
    await phone.getByRole('button', { name: 'Merge', exact: true }).tap();
    await phone.locator('.workflow-step').waitFor();
    await phone.context().close();
  });

  test('are found again as they were left: which part of a list, and narrowed to what', async () => {
    for (let index = 10; index < 35; index += 1) {
      await ground.ask(page, 'mesh/api/v1/agents/register', {
        agentId: `left-${index}`,
        capabilities: ['leaving'],
        metadata: {},
        endpoints: { rest: 'http://127.0.0.1:9' },
      });
    }
    await page.goto('/agents');
    await page.getByLabel('Capability').fill('leaving');
    await page.getByText('1 to 20 of 25').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'left-34' }).click();
    await page.getByRole('heading', { name: 'left-34' }).waitFor();
    await page.goBack();
    await page.getByText('21 to 25 of 25').waitFor();
    expect(await page.getByLabel('Capability').inputValue()).toBe('leaving');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('link', { name: 'left-10' }).waitFor();
    expect(await page.getByLabel('Capability').inputValue()).toBe('');
  });

  test('keep the bar when the program of an area cannot be had, and get it once it can', async () => {
    const programs = '**/assets/tools-page-*';
    const fresh = await ground.openPage();
    await fresh.route(programs, (route) => route.abort());
    await fresh.getByRole('link', { name: 'Tools' }).click();
    const alert = fresh.getByRole('alert');
    await alert.getByText('This page cannot be shown').waitFor();
    await fresh.getByRole('link', { name: 'Models' }).click();
    await fresh.getByRole('heading', { name: 'Models', exact: true }).waitFor();
    await fresh.getByRole('link', { name: 'Tools' }).click();
    await fresh.unroute(programs);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await fresh.getByText('No connections yet').waitFor();
  });

  test('go on by themselves once the service is back that they ask', async () => {
    const studio = '**/services/studio/**';
    await page.route(studio, (route) => route.fulfill({ status: 502, body: '{}' }));
    await page.goto('/studio');
    await page.getByRole('alert').waitFor();
    await page.unroute(studio);
    await page.getByRole('heading', { name: 'There is no workspace yet' }).waitFor();
  });
});
