import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { askEnnead, serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let variables: Record<string, string>;
let suite: Ennead;
let authorization: string;
let url: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  const base = await freePortBase();
  url = serviceUrl(base, 'studio');
  variables = {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
    ENNEAD_TRACER_URL: 'http://127.0.0.1:1',
    RATE_LIMIT_STUDIO_PER_MINUTE: '100000',
    RATE_LIMIT_STUDIO_BURST: '100000',
  };
  suite = startEnnead(['run', 'auth', 'studio'], variables);
  await suite.ready;
  const login = await fetch(`${serviceUrl(base, 'auth')}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await readFile(join(folder.path, 'data', 'admin.json')),
  });
  const { access_token: token } = (await login.json()) as { access_token: string };
  authorization = `Bearer ${token}`;
});
afterAll(async () => {
  await suite.stop();
  await folder.remove();
});

async function makeWorkspace(name: string) {
  const response = await fetch(`${url}/api/v1/workspaces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ name }),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as { readonly id: string; readonly path: string };
}

async function makeFolder(name: string): Promise<string> {
  const path = join(folder.path, name);
  await mkdir(path);
  return path;
}

/** Runs `ennead sync … --once --json`. */
async function sync(workspace: string, path: string) {
  const words = ['sync', workspace, path, '--once', '--json'];
  const { code, stdout, stderr } = await askEnnead(words, { variables });
  expect(stderr).not.toMatch(/\n\s+at /);
  return { code, ...(stdout ? JSON.parse(stdout) : { stderr }) };
}

const namesOf = async (path: string) =>
  (await readdir(path)).filter((name) => name !== '.ennead').toSorted();

test('five hundred files come to another folder, though the studio is killed on the way', async () => {
  await makeWorkspace('Large');
  const [one, two] = [await makeFolder('one'), await makeFolder('two')];
  const names = Array.from({ length: 500 }, (_, index) => `file-${10_000 + index}`);
  for (const name of names) await writeFile(join(one, name), `content of ${name}`);
  const sending = startEnnead(['sync', 'Large', one], variables);
  await expect
    .poll(async () => (await sync('Large', await makeFolder(`p${Math.random()}`))).received, {
      timeout: 60_000,
      interval: 500,
    })
    .toBeGreaterThan(50);
  await suite.stop('SIGKILL');
  suite = startEnnead(['run', 'auth', 'studio'], variables);
  await suite.ready;
  await expect.poll(() => sending.output(), { timeout: 120_000 }).toContain('in step');
  expect(await sending.stop('SIGINT')).toMatchObject({ code: 130 });
  expect(await sync('Large', two)).toMatchObject({ code: 0, received: 500, leftOut: [] });
  expect(await namesOf(two)).toEqual(names);
  expect(await sync('Large', one)).toMatchObject({ code: 0, sent: 0, received: 0, conflicts: 0 });
  await rm(join(two, 'file-10000'));
  expect(await sync('Large', two)).toMatchObject({ code: 0, deletedThere: 1 });
  expect(await sync('Large', one)).toMatchObject({ code: 0, deletedHere: 1 });
}, 180_000);

test('what cannot be done is said in a sentence', async () => {
  const path = await makeFolder('refused');
  expect(await sync('Nowhere', path)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no workspace Nowhere'),
  });
  const { id } = await makeWorkspace('Refused');
  expect(await sync(id, join(path, 'none'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is no folder'),
  });
});
