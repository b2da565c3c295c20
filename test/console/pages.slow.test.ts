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

  test('go on by themselves once the service is back that they ask', async () => {
    const studio = '**/services/studio/**';
    await page.route(studio, (route) => route.fulfill({ status: 502, body: '{}' }));
    await page.goto('/studio');
    await page.getByRole('alert').waitFor();
    await page.unroute(studio);
    await page.getByRole('heading', { name: 'There is no workspace yet' }).waitFor();
  });
});
