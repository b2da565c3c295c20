import { generate } from 'otplib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserProgram, ConsoleGround } from './browser.ts';

const password = 'a long enough password';

describe.skipIf(!browserProgram)('access (skipped when there is no Chromium)', () => {
  let ground: ConsoleGround;
  let page: Page;

  beforeAll(async () => {
    ground = await ConsoleGround.open();
    page = await ground.openPage('/access');
  });

  afterAll(() => ground[Symbol.asyncDispose]());

  /** A user, made as other programs do. */
  async function makeUser(username: string, roles: readonly string[]): Promise<{ id: string }> {
    const body = { username, password, email: `${username}@example.com`, name: '', roles };
    return (await ground.ask(page, 'auth/api/v1/auth/users', body)) as { id: string };
  }

  /** The page of somebody else, in a browser of their own. */
  async function logInAs(username: string, at = '/access'): Promise<Page> {
    const theirs = await ground.newPage();
    await theirs.goto(at);
    await fillLogin(theirs, username);
    return theirs;
  }

  async function fillLogin(theirs: Page, username: string): Promise<void> {
    await theirs.getByLabel('User').fill(username);
    await theirs.getByLabel('Password').fill(password);
    await theirs.getByRole('button', { name: 'Log in' }).click();
  }

  test('makes a user, whose browser shows no administration and says why', async () => {
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('User name').fill('ada');
    await dialog.getByLabel('Email').fill('ada@example.com');
    await dialog.getByLabel('First password').fill(password);
    await dialog.getByRole('checkbox', { name: /^developer/ }).check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Users / ada' }).waitFor();

    const theirs = await logInAs('ada', '/access/users');
    await theirs.getByText('This is for administrators').waitFor();
    expect(await theirs.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    await theirs.getByRole('link', { name: 'Your account' }).click();
    expect(await theirs.getByRole('region', { name: 'You', exact: true }).textContent()).toContain(
      'developer',
    );
    await theirs.context().close();
  });

  test('says why a user is refused, and finds one by name', async () => {
    await makeUser('taken', []);
    await page.goto('/access/users');
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('User name').fill('Taken');
    await dialog.getByLabel('Email').fill('other@example.com');
    await dialog.getByLabel('First password').fill(password);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Whole user name').fill('TAKEN');
    await page.getByRole('button', { name: 'Find' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Whole user name').fill('nobody');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('There is no user nobody').waitFor();
  });

  test('changes a user, shuts it out and in again, and deletes it when that is confirmed', async () => {
    const { id } = await makeUser('grace', ['user']);
    const theirs = await logInAs('grace');
    await page.goto(`/access/users/${id}`);
    await page.getByRole('checkbox', { name: /^developer/ }).check();
    await page.getByRole('button', { name: 'Save the roles' }).click();
    const read = () => ground.ask(page, `auth/api/v1/auth/users/${id}`);
    await expect.poll(read).toMatchObject({ roles: expect.arrayContaining(['developer']) });

    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Let in again' }).waitFor();
    await theirs.reload();
    await theirs.getByLabel('Password').waitFor();
    await theirs.context().close();
    await page.getByRole('button', { name: 'Let in again' }).click();
    await page.getByRole('button', { name: 'Disable' }).waitFor();

    await page.getByRole('button', { name: 'Reset the second factor' }).click();
    await page.getByRole('button', { name: 'Reset it' }).click();
    await page.getByText('There was none in force.').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Delete …', exact: true }).click();
    await page.getByRole('button', { name: 'Delete the user' }).click();
    await page.getByRole('button', { name: 'New user' }).waitFor();
    expect(await page.getByRole('link', { name: 'grace' }).count()).toBe(0);
  });

  test('makes an API key that is shown once, lets a program in, and no more once revoked', async () => {
    await page.goto('/access/api-keys');
    await page.getByRole('button', { name: 'New API key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('nightly');
    await dialog.getByRole('textbox', { name: /^Service/ }).fill('reports');
    await dialog.getByLabel('Permissions').fill('tracer:read');
    await dialog.getByLabel('Ends after').fill('30');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const key = await dialog.getByLabel('API key').inputValue();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(key);
    expect(await statusWith(key)).toBe(200);

    await page.getByRole('button', { name: 'Rotate nightly' }).click();
    await dialog.getByLabel('Hours that the old secret stays good').fill('0');
    await dialog.getByRole('button', { name: 'Give it a new secret' }).click();
    const next = await dialog.getByLabel('New API key').inputValue();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await statusWith(next)).toBe(200);
    await expect.poll(() => statusWith(key)).toBe(401);

    await page.getByRole('button', { name: 'Revoke nightly' }).click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await page
      .getByRole('row', { name: /nightly/ })
      .getByText('revoked')
      .waitFor();
    await expect.poll(() => statusWith(next)).toBe(401);
  });

  /** What the tracer answers to who has the key alone. */
  async function statusWith(key: string): Promise<number> {
    const response = await fetch(`${ground.url}/services/tracer/api/v1/traces`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await response.arrayBuffer();
    return response.status;
  }

  test('ends all sessions but its own, and any of a user', async () => {
    const second = await ground.openPage('/access');
    await page.goto('/access/sessions');
    await page.getByText('this one').waitFor();
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByRole('button', { name: 'End them' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await second.reload();
    await second.getByLabel('Password').waitFor();
    await second.context().close();

    await makeUser('linus', []);
    const theirs = await logInAs('linus');
    await theirs.getByRole('region', { name: 'You', exact: true }).waitFor();
    await page.getByLabel('User name or id').fill('linus');
    await page.getByRole('button', { name: 'Show the user' }).click();
    await page.getByRole('heading', { name: 'Sessions of linus' }).waitFor();
    await page.getByRole('button', { name: 'End …', exact: true }).click();
    await page.getByRole('button', { name: 'End it' }).click();
    await page.getByText('No session is open').waitFor();
    await theirs.reload();
    await theirs.getByLabel('Password').waitFor();
    await theirs.context().close();
  });

  test('lists what was done, narrowed to an event, and verifies that none of it was changed', async () => {
    await page.goto('/access/audit');
    await page.getByRole('button', { name: 'user_created' }).first().click();
    await expect.poll(() => page.getByLabel('Event').inputValue()).toBe('user_created');
    await expect.poll(() => page.getByRole('button', { name: 'login_success' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Verify the log' }).click();
    await page.getByText(/^All \d+ events are what was written$/).waitFor();
    await page.getByLabel('Event').fill('nothing_of_the_kind');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No event is so').waitFor();
  });

  test('sets a second factor up, which the next login asks for', async () => {
    await makeUser('mary', []);
    const theirs = await logInAs('mary');
    await theirs.getByRole('button', { name: 'Set it up' }).click();
    await theirs.getByRole('dialog').getByLabel('Your password').fill('wrong password');
    await theirs.getByRole('button', { name: 'Go on' }).click();
    await theirs.getByRole('dialog').getByRole('alert').waitFor();
    await theirs.getByRole('dialog').getByLabel('Your password').fill(password);
    await theirs.getByRole('button', { name: 'Go on' }).click();
    const secret = await theirs.getByRole('textbox', { name: /^Secret/ }).inputValue();
    expect(await theirs.getByRole('textbox', { name: /^Address/ }).inputValue()).toMatch(
      /^otpauth:\/\/totp\//,
    );
    await theirs.getByLabel('Code that the app shows').fill(await generate({ secret }));
    await theirs.getByRole('button', { name: 'Put it in force' }).click();
    const [code = '', spare = ''] = (await theirs.getByLabel('Recovery codes').inputValue()).split(
      '\n',
    );
    await theirs.getByRole('button', { name: 'Done' }).click();
    await theirs.getByText(/^in force since/).waitFor();

    await theirs.getByRole('button', { name: 'Log out' }).click();
    await fillLogin(theirs, 'mary');
    // A code of the app is good once, and that of this half minute was the first one.
    await theirs.getByLabel('Code of your second factor').waitFor();
    await theirs.keyboard.type(code);
    await theirs.keyboard.press('Enter');
    await theirs.getByText(/^in force since/).waitFor();

    await theirs.getByRole('button', { name: 'Disable' }).click();
    const dialog = theirs.getByRole('dialog');
    await dialog.getByLabel('Your password').fill(password);
    await dialog.getByLabel('Code of the app').fill(spare);
    await dialog.getByRole('button', { name: 'Disable it' }).click();
    await theirs.getByText('not in force').waitFor();
    await theirs.context().close();
  });

  test('changes one’s own password, which the current one must prove', async () => {
    await makeUser('alan', []);
    const theirs = await logInAs('alan');
    const card = theirs.getByRole('region', { name: 'Your password' });
    await card.getByLabel('Current password').fill('not it at all');
    await card.getByLabel('New password').fill('another long password');
    await card.getByRole('button').click();
    await card.getByRole('alert').waitFor();
    await card.getByLabel('Current password').fill(password);
    await card.getByRole('button').click();
    await card.getByText('Your password is changed.').waitFor();
    expect(await card.getByLabel('New password').inputValue()).toBe('');
    await theirs.context().close();
  });

  test('lets the next signing key take over', async () => {
    await page.goto('/access/signing-keys');
    await page.getByRole('row', { name: /active/ }).waitFor();
    await page.getByRole('button', { name: 'Rotate now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('row', { name: /previous/ }).waitFor();
  });

  test('shows what a change of the group mappings does before it does it', async () => {
    await page.goto('/access/groups');
    await page.getByRole('button', { name: 'Add a mapping' }).click();
    const row = page.getByRole('group', { name: 'Mapping of a new group' });
    await row.getByLabel('Group', { exact: true }).fill('acme/testers');
    const typed = page.getByRole('group', { name: 'Mapping of acme/testers' });
    await typed.getByLabel('Role').fill('tester');
    await typed.getByLabel('Permissions').fill('agent:read');
    await page.getByRole('button', { name: 'Show what it changes' }).click();
    await page.getByText('New: acme/testers gives tester (agent:read)').waitFor();
    const before = await ground.ask(page, 'auth/api/v1/auth/group-mappings');
    expect(JSON.stringify(before)).not.toContain('testers');
    await page.getByRole('button', { name: 'Apply it' }).click();
    await expect
      .poll(async () => JSON.stringify(await ground.ask(page, 'auth/api/v1/auth/group-mappings')))
      .toContain('acme/testers');
  });

  test('is no wider than a phone, nor are the metrics of the tracer', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of ['/access/groups', '/traces/metrics']) {
      await page.goto(path);
      await page.getByRole('button', { name: 'Undo all' }).or(page.getByRole('tablist')).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('puts an identity provider in force, and takes it out', async () => {
    await page.goto('/access/providers');
    await page.getByText('No identity provider is configured').waitFor();
    await page.getByRole('button', { name: 'Add a provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('gitlab');
    const url = 'https://gitlab.example.com/oauth';
    await dialog.getByLabel('Authorization address').fill(`${url}/authorize`);
    await dialog.getByLabel('Token address').fill(`${url}/token`);
    await dialog.getByLabel('User info address').fill('not an address');
    await dialog.getByLabel('Client id').fill('ennead');
    await dialog.getByLabel('Callback address').fill('https://ennead.example.com/callback');
    await dialog.getByLabel('Client secret').fill('a secret');
    await dialog.getByRole('button', { name: 'Put in force' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('User info address').fill(`${url}/userinfo`);
    await dialog.getByRole('button', { name: 'Put in force' }).click();
    await page.getByRole('cell', { name: 'gitlab', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the provider' }).click();
    await page.getByText('No identity provider is configured').waitFor();
  });
});
