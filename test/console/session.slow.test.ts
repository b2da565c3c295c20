import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceNames } from '../../src/service-names.ts';
import { browserProgram, ConsoleGround } from './browser.ts';

describe.skipIf(!browserProgram)('the console (skipped when there is no Chromium)', () => {
  let ground: ConsoleGround;

  beforeAll(async () => {
    ground = await ConsoleGround.open();
  });

  afterAll(() => ground[Symbol.asyncDispose]());

  test('asks who one is from the keyboard alone, and says when the password is wrong', async () => {
    const page = await ground.newPage();
    await page.goto('/');
    await page.getByLabel('User').waitFor();
    await page.keyboard.type('admin');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('alert').textContent()).toContain('wrong username or password');
  });

  test('shows all nine services once one is logged in, and after a reload', async () => {
    const page = await ground.openPage();
    for (let time = 0; time < 2; time++) {
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const table = page.getByRole('region', { name: 'Services' }).getByRole('table');
      await table.waitFor();
      expect(await table.getByText('healthy').count()).toBe(serviceNames.length);
      await page.reload();
    }
  });

  test('keeps no token where a script of the page reads it', async () => {
    const page = await ground.openPage();
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(await page.evaluate('Object.keys(localStorage).length')).toBe(0);
  });

  test('renews the session by itself when its token has run out', async () => {
    const page = await ground.openPage();
    const context = page.context();
    const cookies = await context.cookies();
    await context.clearCookies({ name: 'session' });
    expect(cookies.map(({ name }) => name)).toContain('session');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test("opens sockets for its own pages, and none for a stranger's with the same cookies", async () => {
    const page = await ground.openPage();
    const cookies = await page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const open = (origin: string) => {
      const address = `${ground.url.replace('http', 'ws')}/services/mesh/api/v1/activity/stream`;
      const socket = new WebSocket(address, { headers: { cookie, origin } });
      return new Promise((resolve) => {
        socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
        socket.on('open', () => {
          socket.close();
          resolve('open');
        });
      });
    };
    expect(await open('http://evil.test')).toBe(403);
    expect(await open(ground.url)).toBe('open');
  });

  test('stays logged in while nobody can say whether the session goes on', async () => {
    const page = await ground.openPage();
    await page.context().clearCookies({ name: 'session' });
    await page.route('**/session/refresh', (route) => route.fulfill({ status: 503, body: '{}' }), {
      times: 1,
    });
    await page.getByRole('link', { name: 'Traces', exact: true }).click();
    await page.getByRole('heading', { name: 'Traces' }).waitFor();
    await page
      .getByRole('link', { name: /GET|POST/ })
      .first()
      .waitFor();
    expect(await page.getByLabel('Password').count()).toBe(0);
  });

  test('keeps what one was at when the session ends, and hides it until one is back', async () => {
    const page = await ground.openPage('/studio');
    await page.getByRole('button', { name: 'New workspace' }).click();
    const form = page.getByRole('dialog', { name: 'New workspace' });
    await form.getByLabel('Name').fill('Half done');
    await page.context().clearCookies();
    await page.keyboard.press('Enter');
    const login = page.getByRole('dialog', { name: 'Your session has ended' });
    await login.waitFor();
    expect(await form.isVisible()).toBe(false);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    const { username, password } = await ground.credentials();
    await login.getByLabel('User').fill(username);
    await login.getByLabel('Password').fill(password);
    await login.getByRole('button', { name: 'Log in' }).click();
    await login.waitFor({ state: 'detached' });
    expect(await form.getByLabel('Name').inputValue()).toBe('Half done');
    await form.getByText('your session had ended, so this was not done').waitFor();
    await expect.poll(() => form.locator('input:focus').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Half done' }).waitFor();
    await expect.poll(() => page.title()).toBe('Files · Studio / Half done · Ennead');
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await expect.poll(() => page.title()).toBe('Tasks · Studio / Half done · Ennead');
  });

  test('gives the focus back to what opened a dialog, and names the page in its tab', async () => {
    const page = await ground.openPage('/studio');
    await expect.poll(() => page.title()).toBe('Studio · Ennead');
    const button = page.getByRole('button', { name: 'New workspace' });
    await button.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const isFocused = () =>
      button.evaluate((element) => element === element.ownerDocument.activeElement);
    await expect.poll(isFocused).toBe(true);
  });

  test('forgets the session when one logs out', async () => {
    const page = await ground.openPage();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Password').waitFor();
    await page.reload();
    await page.getByLabel('Password').waitFor();
    expect((await page.context().cookies()).map(({ name }) => name)).toEqual([]);
  });
});
