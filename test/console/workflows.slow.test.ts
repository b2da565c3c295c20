import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';
import { browserProgram } from './browser.ts';

type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

/** A suite that can be killed and started again on the same data and ports, and a browser before it. */
class RestartableGround implements AsyncDisposable {
  readonly #variables: Record<string, string>;
  readonly #folder: Folder;
  readonly #browser: Browser;
  #ennead: Ennead;
  #context: Promise<BrowserContext> | undefined;

  private constructor(
    parts: { variables: Record<string, string>; folder: Folder; browser: Browser },
    ennead: Ennead,
  ) {
    this.#variables = parts.variables;
    this.#folder = parts.folder;
    this.#browser = parts.browser;
    this.#ennead = ennead;
  }

  static async open(): Promise<RestartableGround> {
    const [folder, base] = await Promise.all([temporaryFolder(), freePortBase()]);
    const variables = {
      ENNEAD_DATA_DIR: join(folder.path, 'data'),
      ENNEAD_PORT_BASE: String(base),
    };
    const ennead = startEnnead(['up'], variables);
    const [browser] = await Promise.all([
      chromium.launch({ executablePath: browserProgram ?? '', args: ['--no-sandbox'] }),
      ennead.ready,
    ]);
    return new RestartableGround({ variables, folder, browser }, ennead);
  }

  /** A page at a path of the console; the first one logs in for all. */
  async openPage(path: string): Promise<Page> {
    this.#context ??= this.#logIn();
    const page = await (await this.#context).newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(path);
    return page;
  }

  async #logIn(): Promise<BrowserContext> {
    const baseURL = `http://127.0.0.1:${this.#variables['ENNEAD_PORT_BASE']}`;
    const viewport = { width: 1400, height: 1000 };
    const context = await this.#browser.newContext({ baseURL, viewport });
    const page = await context.newPage();
    await page.goto('/');
    const file = join(this.#variables['ENNEAD_DATA_DIR'] ?? '', 'admin.json');
    const { username, password } = JSON.parse(await readFile(file, 'utf8'));
    await page.getByLabel('User').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('navigation', { name: 'Areas' }).waitFor();
    await page.close();
    return context;
  }

  async kill(): Promise<void> {
    await this.#ennead.stop('SIGKILL');
  }

  async start(): Promise<void> {
    this.#ennead = startEnnead(['up'], this.#variables);
    await this.#ennead.ready;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.kill();
    await this.#folder.remove();
  }
}

describe.skipIf(!browserProgram)(
  'workflows in the console (skipped when there is no Chromium)',
  () => {
    let ground: RestartableGround;

    beforeAll(async () => {
      ground = await RestartableGround.open();
    });

    afterAll(() => ground[Symbol.asyncDispose]());

    test('are drawn with the mouse, saved, run, and watched to their end', async () => {
      const page = await ground.openPage('/workflows');
      await page.getByRole('link', { name: 'New workflow' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Adds and waits');
      await dragComponent(page, 'Transform', { x: 40, y: 200 });
      await setting(page, 'expression').fill('20 + 22');
      await dragComponent(page, 'Wait', { x: 360, y: 300 });
      await setting(page, 'duration').fill('1');
      await connect(page, 'transform', 'wait');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('draft, version 1', { exact: true }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/workflows\/wfl_/);

      await run(page);
      await step(page, 'transform').getByText('completed').waitFor();
      await step(page, 'wait').getByText('completed').waitFor();
      await stateIs(page, 'completed');
      await step(page, 'transform').click();
      await page.getByText('"result": 42').waitFor();

      await page.goto('/workflows/executions');
      const row = page.getByRole('row').filter({ hasText: 'Adds and waits' });
      await row.getByText('completed').waitFor();
      await page.getByLabel('Status').selectOption('failed');
      await page.getByText('No execution is in this state').waitFor();
    });

    test('go back and forth while they are drawn, and lose what is deleted', async () => {
      const page = await ground.openPage('/workflows/new');
      const merge = page.getByRole('button', { name: 'Merge', exact: true });
      await merge.dblclick();
      await merge.focus();
      await page.keyboard.press('Enter');
      await steps(page, 2);
      await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(1);
      await step(page, 'merge2').click();
      await page.locator('.react-flow__node.selected').waitFor();
      await page.keyboard.press('Delete');
      await steps(page, 1);
      const canvas = page.getByLabel('Canvas');
      await expect.poll(() => canvas.evaluate((box) => box.matches(':focus'))).toBe(true);
      await page.getByRole('button', { name: 'Undo' }).click();
      await steps(page, 2);
      await page.getByRole('button', { name: 'Redo' }).click();
      await steps(page, 1);
    });

    test('are saved for the first time beneath the hands of whoever draws on', async () => {
      const page = await ground.openPage('/workflows/new');
      await page.getByRole('button', { name: 'Wait', exact: true }).dblclick();
      await setting(page, 'duration').press('Control+s');
      await page.waitForURL(/\/workflows\/wfl_/);
      await page.keyboard.type('20');
      await expect.poll(() => setting(page, 'duration').inputValue()).toBe('20');
    });

    test('are not lost on the way back without a question', async () => {
      const page = await ground.openPage('/workflows');
      await page.locator('header').getByRole('link', { name: 'New workflow' }).click();
      await page.getByRole('button', { name: 'Merge', exact: true }).dblclick();
      const question = page.getByRole('dialog', { name: 'Leave without saving?' });
      // The browser's own button, which waits for no page.
      await page.evaluate('history.back()');
      await question.getByRole('button', { name: 'Back' }).click();
      await steps(page, 1);
      await page.evaluate('history.back()');
      await question.getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('heading', { name: 'Workflows', exact: true }).waitFor();
    });

    test('take no connection that leads back to where it came from, and say why', async () => {
      const page = await openFlow(['a', 'b'], [['a', 'b']]);
      await connect(page, 'b', 'a');
      await page.getByText('a leads to b: only a Loop may be led back to').waitFor();
      expect(await page.locator('.react-flow__edge').count()).toBe(1);
    });

    test('are not saved with a fault, which stands at its step', async () => {
      const page = await openFlow(['a', 'b'], [['a', 'b']]);
      await step(page, 'b').click();
      await setting(page, 'duration').fill('{{ nobody.knows }}');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const fault = 'there is no node, input or variable "nobody"';
      await step(page, 'b').getByText(fault).waitFor();
      await panel(page).getByText(fault).waitFor();
      await page.getByText('One fault: a flow is saved without any.').waitFor();
      await page.getByText('not saved').waitFor();

      await setting(page, 'duration').fill('2');
      await page.getByText('Nothing is wrong with this flow.').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('draft 2').waitFor();
    });

    test('are not overwritten when two draw at once: the later one is told', async () => {
      const mine = await openFlow(['a'], []);
      const theirs = await mine.context().newPage();
      await theirs.goto(mine.url());
      for (const [page, label] of [
        [theirs, 'theirs'],
        [mine, 'mine'],
      ] as const) {
        await step(page, 'a').click();
        await panel(page).getByLabel('Label').fill(label);
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        if (page === theirs) await page.getByText('draft 2').waitFor();
      }
      await mine
        .getByRole('heading', { name: 'Somebody else has changed this workflow' })
        .waitFor();
      await mine.getByRole('button', { name: 'Open theirs, drop mine' }).click();
      await step(mine, 'a').getByText('theirs').waitFor();
    });

    test('are published, and rolled back to what was published before', async () => {
      const page = await openFlow(['a'], []);
      await step(page, 'a').click();
      await panel(page).getByLabel('Label').fill('second');
      await page.getByRole('button', { name: 'Publish' }).click();
      await page.getByText('active, version 2', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Versions' }).click();
      await page.getByRole('button', { name: 'Roll back to 1' }).click();
      await page.getByRole('button', { name: 'Roll back to 2' }).waitFor();
    });

    test('wait for a person, who answers in the page', async () => {
      const page = await openFlow(['a', 'ask'], [['a', 'ask']], {
        ask: { type: 'Approval', data: { message: 'Shall it go on?' } },
      });
      await run(page);
      const approval = page.getByRole('region', { name: 'Approval ask' });
      await approval.getByText('Shall it go on?').waitFor();
      await approval.getByLabel('Comment').fill('of course');
      await approval.getByRole('button', { name: 'Approve' }).click();
      await stateIs(page, 'completed');
      await step(page, 'ask').click();
      await page.getByText('"comment": "of course"').waitFor();
    });

    test('show at which step they failed and why, are resumed, and run again with better inputs', async () => {
      const expression = '$ = "yes" ? 1 : $error("on purpose")';
      const page = await openFlow(['a', 'picky'], [['a', 'picky']], {
        picky: { type: 'Transform', data: { input: '{{ inputs.ok }}', expression } },
      });
      await run(page);
      await stateIs(page, 'failed');
      await step(page, 'picky').getByText('failed').waitFor();
      await page.getByRole('alert').getByText('on purpose').waitFor();
      const resumed = page.waitForResponse((answer) => answer.url().endsWith('/resume'));
      await page.getByRole('button', { name: 'Resume' }).click();
      expect((await resumed).status()).toBe(202);
      await stateIs(page, 'failed');
      await step(page, 'picky').click();
      await page.getByRole('button', { name: 'Run again from here …' }).click();
      await page.getByRole('textbox', { name: /^Inputs/ }).fill('{"ok": "yes"}');
      await page.getByRole('button', { name: 'Run again', exact: true }).click();
      await stateIs(page, 'completed');
      await step(page, 'picky').getByText('completed').waitFor();
    });

    test('are called off while they run', async () => {
      const page = await openFlow(['long'], [], {
        long: { type: 'Wait', data: { duration: 600_000 } },
      });
      await run(page);
      await step(page, 'long').getByText('waiting').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Call it off' }).click();
      await stateIs(page, 'cancelled');
      await step(page, 'long').getByText('cancelled').waitFor();
    });

    test('come from elsewhere with a report of what could not be taken over', async () => {
      const page = await ground.openPage('/workflows/import');
      await page.getByRole('textbox', { name: /^Document/ }).fill('{"neither": "nor"}');
      await page.getByRole('button', { name: 'Import' }).click();
      await page.getByRole('alert').waitFor();
      const node = { typeVersion: 1, position: [0, 0], parameters: {} };
      const document = {
        name: 'From n8n',
        nodes: [
          { ...node, name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
          { ...node, name: 'Script', type: 'n8n-nodes-base.code', parameters: { jsCode: '1' } },
        ],
        connections: { Start: { main: [[{ node: 'Script', type: 'main', index: 0 }]] } },
      };
      await page.getByRole('textbox', { name: /^Document/ }).fill(JSON.stringify(document));
      await page.getByRole('button', { name: 'Import' }).click();
      await page.getByText('a draft until you publish it').waitFor();
      await page.getByRole('row').filter({ hasText: 'Script' }).getByText('unsupported').waitFor();
      await page.getByRole('link', { name: 'From n8n' }).click();
      await page.locator('.workflow-step').getByText('Placeholder').waitFor();
    });

    test('begin with a template, are found by their name, and archived when they are asked twice', async () => {
      const page = await ground.openPage('/workflows/templates');
      await page.getByRole('button', { name: 'Use this: Translate a list' }).click();
      await step(page, 'translate').waitFor();
      await page.getByRole('button', { name: 'Run …' }).click();
      await page.getByRole('textbox', { name: /^texts/ }).waitFor();
      await page.getByText('a list of texts').waitFor();
      await page.goto('/workflows');
      await page.getByLabel('Search').fill('translate');
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
      // By the keyboard it is the button that is pressed, and not the row around it.
      await page.getByRole('button', { name: 'Archive Translate a list' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
      const row = page.getByRole('row').filter({ hasText: 'Translate a list' });
      await row.waitFor({ state: 'detached' });
      await page.getByLabel('Status').selectOption('archived');
      await row.getByText('archived').waitFor();
    });

    test('outlive a kill of the whole suite before the eyes of whoever watches, without a reload', async () => {
      const drawing = await ground.openPage('/workflows/new');
      await drawing.getByRole('button', { name: 'Merge', exact: true }).dblclick();
      await steps(drawing, 1);
      const page = await openFlow(
        ['before', 'pause', 'after'],
        [
          ['before', 'pause'],
          ['pause', 'after'],
        ],
        {
          pause: { type: 'Wait', data: { duration: 8_000 } },
        },
      );
      await run(page);
      await step(page, 'before').getByText('completed').waitFor();
      await step(page, 'pause').getByText('waiting').waitFor();
      await page.evaluate('window.isSamePage = true');
      await ground.kill();
      await page.getByText('This page goes on by itself').waitFor();
      await expectDrawingKept(drawing);
      await ground.start();
      await step(page, 'pause').getByText('completed').waitFor();
      await step(page, 'after').getByText('completed').waitFor();
      await stateIs(page, 'completed');
      expect(await page.getByText('This page goes on by itself').count()).toBe(0);
      expect(await page.evaluate('window.isSamePage')).toBe(true);
      await drawing.getByRole('button', { name: 'Save', exact: true }).click();
      await drawing.getByText('draft, version 1', { exact: true }).waitFor();
    });

    interface Step {
      readonly type: string;
      readonly data: object;
    }

    /** The editor of a published workflow; steps that are not told are waits of no time. */
    async function openFlow(
      ids: readonly string[],
      edges: readonly (readonly [string, string])[],
      told: Readonly<Record<string, Step>> = {},
    ): Promise<Page> {
      const page = await ground.openPage('/workflows');
      const plain = { type: 'Wait', data: { duration: 0 } };
      const flow = {
        nodes: ids.map((id, at) => ({
          id,
          position: { x: at * 300, y: 0 },
          ...(told[id] ?? plain),
        })),
        edges: edges.map(([source, target]) => ({ source, target })),
      };
      const id = await page.evaluate(
        async (body) => {
          const headers = { 'content-type': 'application/json' };
          const path = '/services/workflow/api/v1/workflows';
          const response = await fetch(path, {
            method: 'POST',
            body: JSON.stringify(body),
            headers,
          });
          return ((await response.json()) as { id: string }).id;
        },
        { name: `Flow of ${ids.join(', ')}`, flow },
      );
      await page.goto(`/workflows/${id}`);
      await step(page, ids[0] ?? '').waitFor();
      return page;
    }
  },
);

function step(page: Page, id: string): Locator {
  return page.locator(`[data-node="${id}"]`);
}

function panel(page: Page): Locator {
  return page.getByRole('complementary', { name: 'Settings' });
}

function setting(page: Page, name: string): Locator {
  return panel(page).getByRole('textbox', { name: new RegExp(`^${name}`) });
}

async function steps(page: Page, count: number): Promise<void> {
  await expect.poll(() => page.locator('.workflow-step').count()).toBe(count);
}

/** What is drawn stays while nothing answers, and says so when it is saved. */
async function expectDrawingKept(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('alert').getByText('does Ennead still run?').waitFor();
  await steps(page, 1);
}

async function stateIs(page: Page, state: string): Promise<void> {
  await page.getByLabel('State').getByText(state, { exact: true }).waitFor();
}

async function run(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run …' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^(?:Save and run|Run)$/ })
    .click();
  await page.waitForURL(/\/executions\/exe_/);
}

/** Drags a component out of the palette to a place on the canvas, as a hand does. */
async function dragComponent(page: Page, title: string, place: { x: number; y: number }) {
  const item = page.getByRole('button', { name: title, exact: true });
  await item.scrollIntoViewIfNeeded();
  const canvas = await boxOf(page.locator('.react-flow__pane'));
  await drag(page, await boxOf(item), { x: canvas.x + place.x, y: canvas.y + place.y });
}

async function connect(page: Page, source: string, target: string): Promise<void> {
  const from = await boxOf(step(page, source).locator('.react-flow__handle.source'));
  const to = await boxOf(step(page, target).locator('.react-flow__handle.target'));
  await drag(page, from, { x: to.x + to.width / 2, y: to.y + to.height / 2 });
}

async function drag(page: Page, from: Box, to: { x: number; y: number }): Promise<void> {
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x - 15, to.y - 4, { steps: 5 });
  await page.mouse.move(to.x, to.y, { steps: 5 });
  await page.mouse.up();
}

type Box = { x: number; y: number; width: number; height: number };

async function boxOf(locator: Locator): Promise<Box> {
  const box = await locator.boundingBox();
  if (!box) throw new Error('it is not shown');
  return box;
}
