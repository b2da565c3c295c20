import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { freePortBase } from '../../src/kit/testing.ts';
import { startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

/** How long a page may take; machines of CI are shared. */
const patienceMs = process.env['CI'] ? 60_000 : 20_000;

const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** The browser of this machine; undefined where there is none. */
export const browserProgram = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** A whole suite in a process of its own, and a browser before it. The owner disposes of both. */
export class ConsoleGround implements AsyncDisposable {
  readonly url: string;
  readonly ennead: Ennead;
  readonly #variables: Record<string, string>;
  readonly #browser: Browser;
  readonly #folder: Awaited<ReturnType<typeof temporaryFolder>>;

  private constructor(
    ennead: Ennead,
    variables: Record<string, string>,
    parts: { browser: Browser; folder: Awaited<ReturnType<typeof temporaryFolder>> },
  ) {
    this.ennead = ennead;
    this.#variables = variables;
    this.url = `http://127.0.0.1:${variables['ENNEAD_PORT_BASE']}`;
    this.#browser = parts.browser;
    this.#folder = parts.folder;
  }

  static async open(settings: Record<string, string> = {}): Promise<ConsoleGround> {
    const [folder, base] = await Promise.all([temporaryFolder(), freePortBase()]);
    const variables = {
      ENNEAD_DATA_DIR: join(folder.path, 'data'),
      ENNEAD_PORT_BASE: String(base),
      ...settings,
    };
    const ennead = startEnnead(['up'], variables);
    const [browser] = await Promise.all([
      chromium.launch({ executablePath: browserProgram ?? '', args: ['--no-sandbox'] }),
      ennead.ready,
    ]);
    return new ConsoleGround(ennead, variables, { browser, folder });
  }

  /** The first administrator's name and password. */
  async credentials(): Promise<{ readonly username: string; readonly password: string }> {
    const path = join(this.#variables['ENNEAD_DATA_DIR'] ?? '', 'admin.json');
    return JSON.parse(await readFile(path, 'utf8'));
  }

  /** A page of a browser that knows nothing of the others. */
  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ baseURL: this.url, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    return page;
  }

  /** A page at a path of the console, logged in as the administrator unless told. */
  async openPage(
    path = '/',
    person?: { readonly username: string; readonly password: string },
  ): Promise<Page> {
    const page = await this.newPage();
    await page.goto(path);
    const { username, password } = person ?? (await this.credentials());
    await page.getByLabel('User').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('navigation', { name: 'Areas' }).waitFor();
    return page;
  }

  /** Asks a service through the console with the session of a page, as its own programs do. */
  async ask(page: Page, path: string, body?: unknown): Promise<unknown> {
    return page.evaluate(
      async ([address, sent]) => {
        const response = await fetch(`/services/${address}`, {
          method: sent === undefined ? 'GET' : 'POST',
          ...(sent === undefined
            ? {}
            : { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }),
        });
        return await response.json();
      },
      [path, body] as const,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.ennead.stop('SIGKILL');
    await this.#folder.remove();
  }
}
