import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserProgram, ConsoleGround } from './browser.ts';

describe.skipIf(!browserProgram)('the studio (skipped when there is no Chromium)', () => {
  let ground: ConsoleGround;
  let page: Page;
  /** Another browser of the same person. */
  let other: Page;

  beforeAll(async () => {
    ground = await ConsoleGround.open();
    [page, other] = [await ground.openPage('/studio'), await ground.openPage('/studio')];
  });

  afterAll(() => ground[Symbol.asyncDispose]());

  /** Makes a workspace of its own for a test, and opens it in both pages. */
  async function openWorkspace(name: string): Promise<string> {
    const made = await ground.ask(page, 'studio/api/v1/workspaces', { name });
    const { id } = made as { id: string };
    await Promise.all([page.goto(`/studio/${id}`), other.goto(`/studio/${id}`)]);
    return id;
  }

  async function makeFile(path: string, text: string): Promise<void> {
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByRole('dialog').getByLabel('Path').fill(path);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('textbox', { name: path }).fill(text);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
  }

  async function openTab(name: string): Promise<void> {
    const tabs = page.getByRole('navigation', { name: 'Parts of the workspace' });
    await tabs.getByRole('link', { name }).click();
  }

  function treeItem(of: Page, name: string) {
    return of.getByRole('treeitem', { name });
  }

  test('makes a workspace, and says what to do where there is none', async () => {
    await page.getByText('There is no workspace yet').waitFor();
    await page.getByRole('button', { name: 'New workspace' }).click();
    await page.getByLabel('Name').fill('Shop');
    await page.getByLabel('Description').fill('What is sold');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Studio / Shop' }).waitFor();
    await page.getByText('There are no files yet').waitFor();
    await page.getByRole('link', { name: 'Studio', exact: true }).first().click();
    const row = page.getByRole('row', { name: /Shop/ });
    expect(await row.textContent()).toContain('Admin');
  });

  test('makes a file, which other pages see at once, and saves what is typed', async () => {
    await openWorkspace('Files');
    await makeFile('src/deep/main.ts', 'first\n');
    await treeItem(other, 'src').click();
    await treeItem(other, 'deep').click();
    await treeItem(other, 'main.ts').click();
    const editor = other.getByRole('textbox', { name: 'src/deep/main.ts' });
    await editor.waitFor();
    expect(await editor.inputValue()).toBe('first\n');
  });

  test('shows both texts when somebody else was first, and overwrites nothing unasked', async () => {
    const id = await openWorkspace('Conflict');
    await makeFile('a.txt', 'one\ntwo\nthree');
    await treeItem(other, 'a.txt').click();
    await other.getByRole('textbox', { name: 'a.txt' }).fill('one\nTHEIRS\nthree');
    await page.getByRole('textbox', { name: 'a.txt' }).fill('one\nMINE\nthree');
    await other.getByRole('button', { name: 'Save', exact: true }).click();
    await other.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const theirs = page.getByRole('region', { name: 'In the workspace now' });
    await theirs.waitFor();
    expect(await theirs.textContent()).toContain('THEIRS');
    expect(await page.getByRole('region', { name: 'Yours' }).textContent()).toContain('MINE');
    expect(await readText(id, 'a.txt')).toBe('one\nTHEIRS\nthree');

    await page.getByRole('button', { name: 'Edit mine further' }).click();
    await page.getByRole('textbox', { name: 'a.txt' }).fill('one\nBOTH\nthree');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await readText(id, 'a.txt')).toBe('one\nBOTH\nthree');
    // The other page had nothing unsaved: it follows.
    await expect
      .poll(() => other.getByRole('textbox', { name: 'a.txt' }).inputValue())
      .toBe('one\nBOTH\nthree');
  });

  test('keeps what was typed while another file is open', async () => {
    await openWorkspace('Kept');
    await makeFile('a.txt', 'a');
    await makeFile('b.txt', 'b');
    await page.getByRole('textbox', { name: 'b.txt' }).fill('not saved');
    await treeItem(page, 'a.txt').click();
    await page.getByRole('textbox', { name: 'a.txt' }).waitFor();
    await treeItem(page, 'b.txt').click();
    await page.getByText('Not saved yet').waitFor();
    expect(await page.getByRole('textbox', { name: 'b.txt' }).inputValue()).toBe('not saved');
    await page.getByRole('button', { name: 'Undo all' }).click();
  });

  test('tells of a change while one is typing, and keeps one’s own text beside it if asked', async () => {
    const id = await openWorkspace('Warning');
    await makeFile('a.txt', 'first');
    await treeItem(other, 'a.txt').click();
    await other.getByRole('textbox', { name: 'a.txt' }).fill('mine');
    await page.getByRole('textbox', { name: 'a.txt' }).fill('theirs');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await other.getByRole('button', { name: 'Show both' }).click();
    await other.getByRole('button', { name: 'Save mine beside it' }).click();
    await treeItem(other, 'a.mine-').waitFor();
    await expect
      .poll(() => other.getByRole('textbox', { name: 'a.txt' }).inputValue())
      .toBe('theirs');
    const { files } = (await ground.ask(
      page,
      `studio/api/v1/workspaces/${id}/files?prefix=a.mine`,
    )) as { files: { path: string }[] };
    expect(await readText(id, files[0]?.path ?? '')).toBe('mine');
  });

  test('moves a file, deletes it, and restores it from its history', async () => {
    const id = await openWorkspace('History');
    await makeFile('a.txt', 'first');
    await page.getByRole('textbox', { name: 'a.txt' }).fill('second');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(() => readText(id, 'a.txt')).toBe('second');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New path').fill('docs/b.txt');
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await page.getByRole('textbox', { name: 'docs/b.txt' }).waitFor();
    expect(await treeItem(page, 'a.txt').count()).toBe(0);

    await page.goto(`/studio/${id}?file=a.txt`);
    await page.getByText('There is no such file').waitFor();
    const first = page.getByRole('row', { name: / 5 / });
    await first.getByRole('button', { name: 'Compare' }).click();
    const before = page.getByRole('region', { name: /^Version of/ });
    await before.waitFor();
    expect(await before.textContent()).toContain('first');
    await first.getByRole('button', { name: 'Restore' }).click();
    await expect.poll(() => readText(id, 'a.txt')).toBe('first');

    await page.goto(`/studio/${id}?file=a.txt`);
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('There is no such file').waitFor();
    expect(await treeItem(page, 'a.txt').count()).toBe(0);
  });

  test('uploads files, replaces none unasked, keeps their line ends, and shows no bytes as text', async () => {
    const id = await openWorkspace('Uploads');
    const folder = await mkdtemp(join(tmpdir(), 'ennead-upload-'));
    const path = join(folder, 'notes.txt');
    try {
      await writeFile(path, 'windows\r\nlines\r\n');
      await writeFile(join(folder, 'image.png'), Buffer.from([0x89, 0x50, 0, 1, 2, 255]));
      const input = page.getByLabel('Files to upload');
      await input.setInputFiles([path, join(folder, 'image.png')]);
      await treeItem(page, 'image.png').click();
      await page.getByText('This file is no text').waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('image.png');

      await treeItem(page, 'notes.txt').click();
      await page.getByRole('textbox', { name: 'notes.txt' }).fill('windows\nlines\nmore\n');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await expect.poll(() => readText(id, 'notes.txt')).toBe('windows\r\nlines\r\nmore\r\n');

      await input.setInputFiles([path]);
      await page.getByText('There is such a file already.').waitFor();
      expect(await readText(id, 'notes.txt')).toContain('more');
      await page.getByRole('button', { name: 'Replace it' }).click();
      await expect.poll(() => readText(id, 'notes.txt')).toBe('windows\r\nlines\r\n');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('takes files that are dropped on it', async () => {
    const id = await openWorkspace('Drops');
    const dropped = await page.evaluateHandle(
      `(() => { const held = new DataTransfer(); held.items.add(new File(['dropped'], 'drop.txt')); return held; })()`,
    );
    await page
      .getByRole('region', { name: 'Files' })
      .dispatchEvent('drop', { dataTransfer: dropped });
    await treeItem(page, 'drop.txt').waitFor();
    expect(await readText(id, 'drop.txt')).toBe('dropped');
  });

  test('stays usable with many files, and finds one of them', async () => {
    const id = await openWorkspace('Many');
    const changes = Array.from({ length: 200 }, (_, at) => ({
      path: `folder/file-${String(at).padStart(4, '0')}.txt`,
      operation: 'create',
      baseHash: null,
      content: 'x',
    }));
    await ground.ask(page, 'studio/api/v1/sync/changes', {
      workspaceId: id,
      deviceId: 'many',
      changes,
    });
    await page.getByText('200 files').waitFor();
    await treeItem(page, 'folder').click();
    await treeItem(page, 'file-0000.txt').waitFor();
    expect(await page.getByRole('treeitem').count()).toBeLessThan(100);
    await page.getByLabel('Find files').fill('0177');
    await treeItem(page, 'folder/file-0177.txt').click();
    await page.getByRole('textbox', { name: 'folder/file-0177.txt' }).waitFor();
  });

  async function readText(id: string, path: string): Promise<unknown> {
    return page.evaluate(
      async (address) => (await fetch(address)).text(),
      `/services/studio/api/v1/workspaces/${id}/files/${path}`,
    );
  }

  test('spawns an agent, gives it a task, and shows its log, its answer and its trace', async () => {
    const id = await openWorkspace('Agents');
    await openTab('Agents');
    await page.getByText('No agent works here yet').waitFor();
    await page.getByRole('button', { name: 'Spawn an agent' }).click();
    await page.getByRole('radio', { name: /^assistant/ }).check();
    await page.getByRole('dialog').getByLabel('Name').fill('Ada');
    await page.getByRole('button', { name: 'Spawn', exact: true }).click();
    await page.getByRole('heading', { name: 'Agents / Ada' }).waitFor();
    const log = page.getByRole('log');
    await log.getByText(/joined the mesh/).waitFor();
    await page.getByText(/running, 0 queued/).waitFor();
    const agentUrl = page.url();

    await page.getByLabel('What to do').fill('Hello');
    await page.getByRole('button', { name: 'Give the task' }).click();
    // A model takes its time on a busy machine.
    await page.getByText('completed').waitFor({ timeout: 50_000 });
    const result = page.getByRole('region', { name: 'Result' });
    expect(await result.textContent()).toContain('Hello');
    const trace = page.getByRole('link', { name: /^[0-9a-f]{32}$/ });
    await trace.waitFor();
    expect(await trace.getAttribute('href')).toMatch(/^\/traces\/[0-9a-f]{32}$/);

    await page.goto(agentUrl);
    await page
      .getByRole('log')
      .getByText(/done after/)
      .waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('No agent works here yet').waitFor();
    expect(page.url()).toContain(`/studio/${id}/agents`);
  });

  test('shows why a task is refused beside its form', async () => {
    await openWorkspace('Refusals');
    await openTab('Tasks');
    await page.getByRole('button', { name: 'New task' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type').selectOption('test');
    await dialog.getByRole('button', { name: 'Give the task' }).click();
    expect(await dialog.getByRole('alert').textContent()).toContain('testCommand');
  });

  test('keeps settings, takes a member in by name, and says when there is no such user', async () => {
    const id = await openWorkspace('Setup');
    await ground.ask(page, 'auth/api/v1/auth/users', {
      username: 'grace',
      password: 'a long enough one',
      email: 'grace@example.com',
      name: 'Grace',
      roles: [],
    });
    await openTab('Settings');
    await page.getByLabel('Test command').fill('node\n--test');
    await page.getByRole('button', { name: 'Save the settings' }).click();
    const settings = async () =>
      ((await ground.ask(page, `studio/api/v1/workspaces/${id}`)) as { settings: object }).settings;
    await expect.poll(settings).toEqual({ testCommand: ['node', '--test'] });

    const members = page.getByRole('region', { name: 'Members' });
    await members.getByLabel('User name or id').fill('nobody');
    await members.getByRole('button', { name: 'Add member' }).click();
    expect(await members.getByRole('alert').textContent()).toContain('no user nobody');
    await members.getByLabel('User name or id').fill('grace');
    await members.getByRole('button', { name: 'Add member' }).click();
    await members.getByRole('cell', { name: 'grace' }).waitFor();
  });

  test('lets who may only read a workspace read it, and offers nothing else', async () => {
    const password = 'a long enough one';
    const { id: userId } = (await ground.ask(page, 'auth/api/v1/auth/users', {
      username: 'reader',
      password,
      email: 'reader@example.com',
      name: '',
      roles: [],
    })) as { id: string };
    const { id } = (await ground.ask(page, 'studio/api/v1/workspaces', {
      name: 'Read',
      members: [{ userId, role: 'Viewer' }],
    })) as { id: string };
    await page.goto(`/studio/${id}`);
    await makeFile('a.txt', 'to be read');
    const theirs = await ground.newPage();
    await theirs.goto(`/studio/${id}?file=a.txt`);
    await theirs.getByLabel('User').fill('reader');
    await theirs.getByLabel('Password').fill(password);
    await theirs.getByRole('button', { name: 'Log in' }).click();
    const editor = theirs.getByRole('textbox', { name: 'a.txt' });
    await editor.waitFor();
    expect(await editor.isEditable()).toBe(false);
    for (const name of ['New file', 'Upload', 'Save', 'Rename', 'Delete']) {
      expect(await theirs.getByRole('button', { name }).count(), name).toBe(0);
    }
    expect(await theirs.getByRole('link', { name: 'Tasks' }).count()).toBe(0);
    await theirs.getByRole('link', { name: 'Settings' }).click();
    expect(await theirs.getByRole('button', { name: 'Save the name' }).isDisabled()).toBe(true);
    expect(await theirs.getByRole('button', { name: 'Save the settings' }).count()).toBe(0);
    await theirs.context().close();
  });

  test('says how far devices are, and reads the folder again', async () => {
    await openWorkspace('Sync');
    await openTab('Sync');
    await page.getByText('No device keeps a copy of this workspace').waitFor();
    await page.getByRole('button', { name: 'Read the folder again' }).click();
    await page.getByText('0 files were looked at, 0 had changed.').waitFor();
  });

  test('deletes a workspace when that is confirmed, and not before', async () => {
    const id = await openWorkspace('Doomed');
    await openTab('Settings');
    await page.getByRole('button', { name: 'Delete the workspace …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
    expect(await ground.ask(page, `studio/api/v1/workspaces/${id}`)).toMatchObject({ id });
    await page.getByRole('button', { name: 'Delete the workspace …' }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByRole('heading', { name: 'Studio', exact: true }).waitFor();
    await page.goto(`/studio/${id}`);
    expect(await page.getByRole('alert').textContent()).toContain('workspace');
  });
});
