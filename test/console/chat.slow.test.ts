import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  calls,
  says,
  startScriptedGateway,
  type Script,
  type ScriptedGateway,
} from '../../src/chat/gateway-testing.ts';
import { startEverything } from '../../src/chat/tools/testing.ts';
import { browserProgram, ConsoleGround } from './browser.ts';

const scriptedModel = 'scripted/scripted-model';

describe.skipIf(!browserProgram)('chat in the console (skipped when there is no Chromium)', () => {
  let ground: ConsoleGround;
  /** Answers as a test says, as a provider of the gateway. */
  let provider: ScriptedGateway;
  let page: Page;

  beforeAll(async () => {
    [ground, provider] = await Promise.all([ConsoleGround.open(), startScriptedGateway()]);
    page = await ground.openPage('/chat');
    const models = [{ name: 'scripted-model', capabilities: ['chat', 'tools'] }];
    const settings = { dialect: 'openai', baseUrl: `${provider.url}/v1`, models };
    expect(await put('gateway/api/v1/providers/scripted', settings)).toBe(201);
  });

  afterAll(async () => {
    await ground[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  function put(path: string, body: unknown): Promise<number> {
    return page.evaluate(
      async ([address, sent]) => {
        const headers = { 'content-type': 'application/json' };
        const init = { method: 'PUT', headers, body: JSON.stringify(sent) };
        return (await fetch(`/services/${address}`, init)).status;
      },
      [path, body] as const,
    );
  }

  /** A new conversation with a model; answers its id. */
  async function openConversation(model: string, on = page): Promise<string> {
    const made = (await ground.ask(on, 'chat/api/conversations', { model })) as { id: string };
    await on.goto(`/chat/${made.id}`);
    return made.id;
  }

  async function send(text: string, on = page): Promise<void> {
    await on.getByRole('button', { name: 'Send' }).waitFor();
    await on.getByRole('textbox', { name: 'Message', exact: true }).fill(text);
    await on.keyboard.press('Enter');
  }

  async function chooseModel(name: string): Promise<void> {
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.getByLabel('Find a model').fill(name);
    await page.getByRole('dialog').getByText(name, { exact: true }).click();
    await page.getByRole('button', { name: `Model: ${name}` }).waitFor();
  }

  const answers = (on = page) => on.getByRole('article', { name: /^Answer/ });
  const lastAnswer = (on = page) => answers(on).last();

  test('answers with the built-in model, and says what that took', async () => {
    await page.goto('/chat');
    await chooseModel('ennead-tiny');
    await send('Hello');
    // The model has to be loaded first.
    await page.getByText('Hello! How can I help you?').waitFor({ timeout: 50_000 });
    await lastAnswer()
      .getByText(/ennead-tiny · \d+ \+ \d+ tokens · \$0.00/)
      .waitFor();
    expect(page.url()).toMatch(/\/chat\/cnv_/);
    await page
      .getByRole('link', { name: /^Hello/, exact: false })
      .first()
      .waitFor();
  });

  test('shows an answer as it is written, on after a reload, and in another tab', async () => {
    const gate = makeGate();
    provider.script(sayAround('The first half', gate.opened, ' and the second.'));
    await openConversation(scriptedModel);
    const tab = await page.context().newPage();
    await tab.goto(page.url());
    await send('Tell me');
    for (const one of [page, tab]) {
      await one.getByText('The first half').waitFor();
      expect(await lastAnswer(one).getAttribute('aria-busy')).toBe('true');
    }
    await page.reload();
    await page.getByText('The first half').waitFor();
    gate.open();
    for (const one of [page, tab]) {
      await one.getByText('The first half and the second.').waitFor();
      await one.getByRole('button', { name: 'Send' }).waitFor();
      expect(await answers(one).count()).toBe(1);
    }
    await page.reload();
    await page.getByText('The first half and the second.').waitFor();
    await tab.close();
  });

  test('stops an answer and keeps what was written', async () => {
    provider.script(sayAround('This much', new Promise(() => {}), ''));
    await openConversation(scriptedModel);
    await send('Tell me all');
    await page.getByText('This much').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await lastAnswer().getByText('stopped').waitFor();
    await page.reload();
    await lastAnswer().getByText('This much').waitFor();
    await lastAnswer().getByText('stopped').waitFor();

    provider.script(says(['All of it.']));
    await lastAnswer().getByRole('button', { name: 'Ask again' }).click();
    await page.getByText('All of it.').waitFor();
    expect(await answers().count()).toBe(2);
  });

  test('says why there is no answer, also after a reload, and asks again', async () => {
    await openConversation('no-such-model');
    await send('Anybody there?');
    const refusal = page.getByRole('alert').getByText('there is no model no-such-model');
    await refusal.waitFor();
    await page.reload();
    await refusal.waitFor();

    provider.script(says(['Here I am.']));
    await chooseModel('scripted-model');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Here I am.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('shows Markdown, and runs nothing of it', async () => {
    const text = [
      '# Title',
      '- **bold** and `code`',
      '',
      '```js',
      'alert(1)',
      '```',
      '<img src=x onerror="document.title = 1"> [bad](javascript:alert(1)) [good](https://a.example)',
    ].join('\n');
    provider.script(says(text.split(/(?<=\s)/)));
    await openConversation(scriptedModel);
    await send('Markdown, please');
    await lastAnswer().getByRole('heading', { name: 'Title' }).waitFor();
    await lastAnswer().getByRole('button', { name: 'Copy code' }).waitFor();
    await lastAnswer().getByText('<img src=x').waitFor();
    expect(await lastAnswer().getByRole('listitem').textContent()).toBe('bold and code');
    const links = lastAnswer().getByRole('link');
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
      'https://a.example',
    ]);
    expect(await links.getAttribute('rel')).toBe('noreferrer');
    expect(await page.locator('.markdown img').count()).toBe(0);
  });

  test('leaves a reader who scrolled up in peace, and follows one who is at the end', async () => {
    const gate = makeGate();
    const lines = Array.from({ length: 80 }, (_, at) => `Line ${at}\n\n`);
    provider.script(sayAround(lines.join(''), gate.opened, lines.join('')));
    await openConversation(scriptedModel);
    await send('Many lines');
    await page.getByText('Line 79').waitFor();
    const scroller = page.locator('.thread-scroller');
    const isAtEnd = () =>
      scroller.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 40);
    await expect.poll(isAtEnd).toBe(true);
    await scroller.evaluate((box) => box.scrollTo({ top: 100 }));
    const newest = page.getByRole('button', { name: '↓ Newest' });
    await newest.waitFor();
    gate.open();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await page.getByText('Line 79').count()).toBe(2);
    expect(await scroller.evaluate((box) => box.scrollTop)).toBe(100);
    await newest.click();
    await expect.poll(isAtEnd).toBe(true);
  });

  test('branches from an answer, and asks again in a branch', async () => {
    provider.script(says(['First answer.']), says(['Second answer.']), says(['Another first.']));
    const id = await openConversation(scriptedModel);
    await send('First question');
    await page.getByText('First answer.').waitFor();
    await send('Second question');
    await page.getByText('Second answer.').waitFor();

    await answers().first().getByRole('button', { name: 'Branch' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await page.getByText('First answer.').waitFor();
    expect(await page.getByText('Second question').count()).toBe(0);

    await page.goto(`/chat/${id}`);
    await answers().first().getByRole('button', { name: 'Ask again' }).click();
    await page.getByText('Another first.').waitFor();
    expect(await page.getByText('First answer.').count()).toBe(0);
    await page.goto(`/chat/${id}`);
    await page.getByText('Second answer.').waitFor();
  });

  test('renames, finds and deletes a conversation, in all tabs', async () => {
    provider.script(says(['The lighthouse keeper sleeps.']));
    const id = await openConversation(scriptedModel);
    const tab = await page.context().newPage();
    await tab.goto('/chat');
    await send('A story of the sea');
    await page.getByText('The lighthouse keeper sleeps.').waitFor();

    await page.getByRole('button', { name: 'Rename A story of the sea' }).click();
    await page.getByLabel('Title').fill('Sea story');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sea story' }).waitFor();
    await tab.getByRole('link', { name: /^Sea story/ }).waitFor();

    await tab.getByLabel('Search in conversations').fill('lighthouse');
    await tab.locator('mark').first().waitFor();
    await tab.getByRole('link', { name: /lighthouse keeper/ }).click();
    await tab.getByText('The lighthouse keeper sleeps.').nth(1).waitFor();
    await tab.getByLabel('Search in conversations').fill('');

    await page.getByRole('button', { name: 'Delete Sea story' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Delete Sea story' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'New chat' }).waitFor();
    await tab.getByRole('alert').getByText('there is no such conversation').waitFor();
    expect(page.url()).not.toContain(id);
    await tab.close();
  });

  test('calls the tools that were ticked once they are approved', async () => {
    await using everything = await startEverything();
    const connection = { name: 'every', type: 'server', protocol: 'http' };
    const endpoint = { url: everything.url };
    await ground.ask(page, 'registry/connections', { ...connection, endpoint });
    await expect
      .poll(() => ground.ask(page, 'chat/api/tools'))
      .toMatchObject({ tools: expect.arrayContaining([expect.anything()]) });
    provider.script(
      calls(['call_1', 'every__echo', { message: 'ahoy' }]),
      calls(['call_2', 'every__echo', { message: 'again' }]),
      says(['The tool has spoken.']),
    );
    await openConversation(scriptedModel);
    await page.getByRole('button', { name: 'Tools' }).click();
    await page.getByRole('checkbox', { name: /^Echo/ }).check();
    await page.getByLabel('Approval').selectOption('always');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Tools: 1' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });

    await send('Call it');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Echo: ahoy').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('The tool has spoken.').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await page.getByText('Echo: again').count()).toBe(0);
  });
});

function makeGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** Says something, waits, and says the rest. */
function sayAround(before: string, gate: Promise<void>, after: string): Script {
  return async (_asked, answer) => {
    answer.say(before);
    await gate;
    answer.say(after);
    answer.finish();
  };
}
