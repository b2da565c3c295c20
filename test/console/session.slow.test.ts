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

  test('asks who one is, and says when the password is wrong', async () => {
    const page = await ground.newPage();
    await page.goto('/');
    await page.getByLabel('User').fill('admin');
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
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

  test('forgets the session when one logs out', async () => {
    const page = await ground.openPage();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Password').waitFor();
    await page.reload();
    await page.getByLabel('Password').waitFor();
    expect((await page.context().cookies()).map(({ name }) => name)).toEqual([]);
  });
});
