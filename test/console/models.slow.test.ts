import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startScriptedGateway, type ScriptedGateway } from '../../src/chat/gateway-testing.ts';
import { browserProgram, ConsoleGround } from './browser.ts';

describe.skipIf(!browserProgram)(
  'models in the console (skipped when there is no Chromium)',
  () => {
    let ground: ConsoleGround;
    /** Answers as a provider of the gateway. */
    let provider: ScriptedGateway;
    let page: Page;

    beforeAll(async () => {
      // Nothing is pulled over a network.
      const settings = { MODELS_PULL_ALLOW: 'models.example' };
      [ground, provider] = await Promise.all([
        ConsoleGround.open(settings),
        startScriptedGateway(),
      ]);
      page = await ground.openPage('/models');
    });

    afterAll(async () => {
      await ground[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    });

    const row = (name: string | RegExp) => page.getByRole('row', { name });
    const button = (name: string | RegExp) => page.getByRole('button', { name });

    test('lists the models with what they can, and finds them', async () => {
      await page.goto('/models');
      await row(/ennead-tiny local chat.* 1,024/).waitFor();
      await page.getByLabel('Find a model').fill('embedding');
      await row(/ennead-embed/).waitFor();
      expect(await row(/ennead-tiny/).count()).toBe(0);
      await page.getByLabel('Find a model').fill('no such model');
      await page.getByRole('heading', { name: 'No model is called that' }).waitFor();
    });

    test('explains a routing, and why there is none', async () => {
      await page.goto('/models');
      await page.getByLabel('Question').fill('Write a Python function that sorts a list');
      await button('Explain').click();
      await page.getByText('because it asks to work on code').waitFor();
      await row(/local\/ennead-tiny .*it costs nothing/).waitFor();
      await page.getByLabel('Model', { exact: true }).fill('nobody');
      await button('Explain').click();
      await page.getByRole('alert').getByText('nobody').waitFor();
    });

    test('adds a provider whose key is never shown again, changes and deletes it', async () => {
      const secret = 'secret-of-acme';
      await page.goto('/models/providers');
      await row(/local healthy closed 100 %/).waitFor();
      await button('Add a provider').click();
      await page.getByLabel(/^Name(?! of)/).fill('Not A Name');
      await page.getByLabel('Address').fill(`${provider.url}/v1`);
      await page.getByLabel('Keys').fill(secret);
      await page.getByRole('radio', { name: /^These alone/ }).check();
      await button('Add a model').click();
      await page.getByLabel('Name of model 1').fill('acme-large');
      await page.getByLabel('$ in / million of model 1').fill('2');
      await button(/^Add$/).click();
      await page.getByRole('alert').getByText('must be 1 to 63').waitFor();
      await page.getByLabel(/^Name(?! of)/).fill('acme');
      await button(/^Add$/).click();
      await page.getByText('One key is stored.').waitFor();
      expect(page.url()).toContain('/models/providers/acme');
      await page.reload();
      await page.getByText('One key is stored.').waitFor();
      expect(await page.getByLabel('Keys').inputValue()).toBe('');
      expect(await page.content()).not.toContain(secret);

      await page.getByRole('radio', { name: /^These alone/ }).check();
      expect(await page.getByLabel('$ in / million of model 1').inputValue()).toBe('2');
      await page.getByLabel('$ in / million of model 1').fill('3');
      await button('Save').click();
      await page.getByText('Saved: in force at once.').waitFor();
      await page.getByText('One key is stored.').waitFor();
      await page.goto('/models');
      await row(/acme-large acme .*\$3\.00/).waitFor();
      await ground.ask(page, 'gateway/api/v1/chat/completions', {
        model: 'acme/acme-large',
        messages: [{ role: 'user', content: 'Hello' }],
      });
      expect(provider.asked.at(-1)?.credential).toBe(secret);

      await page.goto('/models/providers/acme');
      await button('Delete').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await row(/local healthy/).waitFor();
      await expect.poll(() => row(/acme/).count()).toBe(0);
    });

    test('shows a provider that does not answer as degraded, in its own words', async () => {
      const settings = {
        dialect: 'openai',
        baseUrl: 'http://127.0.0.1:9/v1',
        models: [{ name: 'off' }],
      };
      await page.goto('/models/providers');
      await page.evaluate(async (body) => {
        const headers = { 'content-type': 'application/json' };
        const init = { method: 'PUT', headers, body: JSON.stringify(body) };
        await fetch('/services/gateway/api/v1/providers/broken', init);
      }, settings);
      for (let time = 0; time < 6; time++) {
        await ground.ask(page, 'gateway/api/v1/chat/completions', {
          model: 'broken/off',
          messages: [{ role: 'user', content: 'Hello' }],
        });
      }
      await row(/broken degraded it cannot be reached/).waitFor();
    });

    test('shows what was spent, by day, model and key, and clears the cache', async () => {
      const message = { role: 'user', content: 'Hello' };
      await ground.ask(page, 'gateway/api/v1/chat/completions', {
        model: 'ennead-tiny',
        messages: [message],
        temperature: 0,
      });
      await expect
        .poll(() => ground.ask(page, 'gateway/api/v1/spend'))
        .not.toMatchObject({ totals: { requests: 0 } });
      await page.goto('/models/spend');
      await row(/^\d{4}-/).waitFor();
      await page.locator('.day-chart .bar-shape').last().waitFor();
      await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('model');
      await row(/ennead-tiny [\d.]+ %/).waitFor();
      await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('user or key');
      await row(/Administrator/).waitFor();
      await page.getByLabel('To', { exact: true }).fill('2020-01-02');
      await page.getByLabel('From', { exact: true }).fill('2020-01-01');
      await page.getByRole('heading', { name: 'Nothing was spent' }).waitFor();
      await button('Clear my answers').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
      await page.getByText('answers were dropped').waitFor();
    });

    test('sets, shows and deletes a budget', async () => {
      await page.goto('/models/budgets');
      await page.getByRole('heading', { name: 'Nobody has a budget' }).waitFor();
      await button('Set a budget').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('User or key').fill('my-app');
      await dialog.getByLabel('At most').fill('5');
      await dialog.getByRole('button', { name: 'Add a limit' }).click();
      await dialog.getByLabel('At most').nth(1).fill('7');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog
        .getByRole('combobox', { name: 'of', exact: true })
        .nth(1)
        .selectOption('requests');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await row(/my-app .*\$0\.00 of \$5\.00 a month.*0 of 7 requests a month/).waitFor();
      await row(/my-app/)
        .getByRole('button', { name: 'Delete' })
        .click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { name: 'Nobody has a budget' }).waitFor();
    });

    test('lists and describes the models of this machine, and keeps those that came with it', async () => {
      await page.goto('/models/local');
      await row(/ennead-tiny llama 5\.2M Q8_0 5\.6 MB/).waitFor();
      await button('Details of ennead-tiny').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('apache-2.0').first().waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      expect(await button(/^Delete/).count()).toBe(0);
    });

    test('says why a model cannot be pulled', async () => {
      await page.goto('/models/local');
      await page.getByLabel('Name').fill('no-such-model:9b');
      await button('Pull').click();
      const alert = page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.textContent()).toContain('models may not be pulled from');
      await expect.poll(() => button('Pull').isEnabled()).toBe(true);
    });
  },
);
