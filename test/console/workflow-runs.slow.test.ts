import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { browserProgram, ConsoleGround } from './browser.ts';

describe.skipIf(!browserProgram)(
  'what a workflow is run by (skipped when there is no Chromium)',
  () => {
    let ground: ConsoleGround;

    beforeAll(async () => {
      ground = await ConsoleGround.open();
    });

    afterAll(() => ground[Symbol.asyncDispose]());

    /** A page with the editor of a stored flow of one step. */
    async function openEditor(name: string, node: object): Promise<Page> {
      const page = await ground.openPage('/workflows');
      const flow = { nodes: [{ id: 'step', ...node }], edges: [] };
      const stored = await ground.ask(page, 'workflow/api/v1/workflows', { name, flow });
      await page.goto(`/workflows/${(stored as { id: string }).id}`);
      return page;
    }

    test('a batch runs it for many inputs, tells what failed, and runs that again', async () => {
      const page = await openEditor('Adds one', {
        type: 'Transform',
        data: { input: '{{ inputs.n }}', expression: '$ + 1' },
      });
      await page.getByRole('link', { name: 'Batches' }).click();
      await page.getByText('No batch yet').waitFor();

      await page.getByRole('button', { name: 'New batch' }).click();
      await page.getByLabel('Items').fill('{"n": 1}\nnonsense');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('alert').getByText('Item 2 is no JSON').waitFor();
      await page.getByLabel('Items').fill('{"n": 1}\n{"n": "one"}\n{"n": 3}');
      await page.getByLabel('At once').fill('2');
      await page.getByRole('button', { name: 'Start' }).click();

      const state = page.getByRole('region', { name: 'State' });
      await state.getByText('2 completed, 1 failed').waitFor();
      const items = page.getByRole('region', { name: 'Items' });
      await items.getByLabel('Status').selectOption('failed');
      await items.getByRole('row').nth(1).getByText('step: ').waitFor();
      await page.getByRole('button', { name: 'Run the other 1 again' }).click();
      await state.getByText('2 completed, 1 failed').waitFor();
      await items.getByRole('row').nth(1).getByRole('link').click();
      await page.getByLabel('State').getByText('failed', { exact: true }).waitFor();

      await page.goto('/workflows/batches');
      const row = page.getByRole('row').filter({ hasText: 'Adds one' });
      await row.getByText('2 completed, 1 failed').waitFor();
      await page.getByLabel('Status').selectOption('cancelled');
      await page.getByText('No batch is in this state').waitFor();
    });

    test('a batch is read from a file, and called off while it runs', async () => {
      const page = await openEditor('Waits', { type: 'Wait', data: { duration: 60_000 } });
      await page.getByRole('link', { name: 'Batches' }).click();
      await page.getByRole('button', { name: 'New batch' }).click();
      await page.getByLabel('Or a file with them').setInputFiles({
        name: 'items.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify([{}, {}, {}])),
      });
      await page.getByLabel('At once').fill('1');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('button', { name: 'Cancel …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Call it off' }).click();
      await page.getByRole('region', { name: 'State' }).getByText('3 cancelled').waitFor();
      await page.getByRole('button', { name: 'Run the other 3 again' }).waitFor();
    });

    test('its tests are written, run, and say what they found instead', async () => {
      const page = await openEditor('Greets', {
        type: 'Transform',
        data: { input: '{{ inputs.name }}', expression: '"Hello " & $' },
      });
      await page.getByRole('link', { name: 'Tests' }).click();
      await page.getByText('No tests yet').waitFor();

      await page.getByRole('button', { name: 'New test' }).click();
      await page.getByLabel('Name').fill('greets by name');
      await page.getByLabel('Inputs').fill('{"name": "Ada"}');
      await page
        .getByLabel('Expected')
        .fill('[{"node": "step", "path": "result", "equals": "Hello Bob"}]');
      await page.getByRole('button', { name: 'Save' }).click();
      const greets = page.getByRole('article', { name: 'greets by name' });
      await greets.getByText('step.result equals "Hello Bob"').waitFor();

      await greets.getByRole('button', { name: 'Run' }).click();
      await greets.getByText('failed', { exact: true }).waitFor();
      await greets.getByText('Hello Ada').waitFor();
      await greets.getByRole('button', { name: 'Edit' }).click();
      await page
        .getByLabel('Expected')
        .fill('[{"node": "other", "path": "result", "equals": "Hello Ada"}]');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('alert').getByText('other').waitFor();
      await page
        .getByLabel('Expected')
        .fill('[{"node": "step", "path": "result", "contains": "Ada"}]');
      await page.getByRole('button', { name: 'Save' }).click();
      await greets.getByText('step.result contains "Ada"').waitFor();
      await page.getByRole('button', { name: 'Run all' }).click();
      await greets.getByText('passed', { exact: true }).waitFor();
      await page.getByText('1 of 1 passed').waitFor();

      await greets.getByRole('button', { name: 'Delete …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No tests yet').waitFor();
    });
  },
);
