import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserProgram, ConsoleGround } from './browser.ts';

describe.skipIf(!browserProgram)('a trigger (skipped when there is no Chromium)', () => {
  let ground: ConsoleGround;

  beforeAll(async () => {
    ground = await ConsoleGround.open();
  });

  afterAll(() => ground[Symbol.asyncDispose]());

  test('starts a workflow when a request comes in, at set times, and not while it is paused', async () => {
    const page = await ground.openPage('/workflows');
    const flow = { nodes: [{ id: 'a', type: 'Wait', data: { duration: 0 } }], edges: [] };
    const stored = await ground.ask(page, 'workflow/api/v1/workflows', { name: 'Started', flow });
    await page.goto(`/workflows/${(stored as { id: string }).id}`);
    await page.getByRole('link', { name: 'Triggers' }).click();
    await page.getByText('Nothing starts it by itself').waitFor();

    await page.getByRole('button', { name: 'New trigger' }).click();
    await page.getByLabel('It fires').selectOption('webhook');
    await page.getByLabel('Name').fill('Orders');
    await page.getByLabel('Only if').fill('body.kind == "order"');
    await page.getByLabel('Inputs').fill('nonsense');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('Inputs is no JSON').waitFor();
    await page.getByLabel('Inputs').fill('{"order": "{{ body.id }}"}');
    await page.getByRole('button', { name: 'Create' }).click();
    const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
    await page.getByRole('button', { name: 'Done' }).click();

    const orders = page.getByRole('article', { name: 'Orders' });
    const address = (await orders.getByText(/^POST http/).textContent())?.replace('POST ', '');
    const deliver = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ kind: 'order', id: 7 });
      const json = { 'content-type': 'application/json' };
      return fetch(address ?? '', { method: 'POST', body, headers: { ...json, ...headers } });
    };
    expect((await deliver({})).status).toBe(401);
    expect((await deliver({ 'x-webhook-secret': secret })).status).toBe(202);
    await orders.getByRole('button', { name: 'Firings' }).click();
    await orders.getByText('started').waitFor();
    await orders.getByText('1 times').waitFor();

    await orders.getByLabel('Enabled').click();
    await orders.getByText('paused').waitFor();
    expect((await deliver({ 'x-webhook-secret': secret })).status).toBe(409);
    await orders.getByRole('link', { name: 'Open' }).click();
    await page.getByLabel('State').getByText('completed', { exact: true }).waitFor();
    await page.goBack();

    await page.getByRole('button', { name: 'New trigger' }).click();
    await page.getByLabel('Cron').fill('every day');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('cron').waitFor();
    await page.getByLabel('Cron').fill('0 9 * * 1-5');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByRole('button', { name: 'Create' }).click();
    const daily = page.getByRole('article', { name: '0 9 * * 1-5' });
    await daily.getByText('0 9 * * 1-5 (Europe/Berlin)').waitFor();
    await daily.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('Mornings');
    await page.getByRole('button', { name: 'Save' }).click();
    const mornings = page.getByRole('article', { name: 'Mornings' });
    await mornings.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await mornings.waitFor({ state: 'detached' });
  });
});
