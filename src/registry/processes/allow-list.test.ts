import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { AllowList } from './allow-list.ts';

let folder: string;
let searchPath: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'registry-allow-')));
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'later'));
  for (const name of ['bin/tool', 'later/tool', 'later/other']) {
    await writeFile(join(folder, name), '#!/bin/sh\n');
    await chmod(join(folder, name), 0o755);
  }
  await writeFile(join(folder, 'bin/other'), 'not executable');
  searchPath = [`${folder}/bin`, '', 'relative', `${folder}/later`].join(':');
});

afterAll(async () => rm(folder, { recursive: true, force: true }));

const isAllowed = (list: string, command: string, ...args: string[]) =>
  new AllowList(list, searchPath).explainRefusal({ command, args }) === undefined;

const explain = (list: string, command: string, ...args: string[]) =>
  new AllowList(list, searchPath).explainRefusal({ command, args });

describe('an empty list', () => {
  test('allows nothing', () => {
    expect(explain('', 'tool')).toContain('allowed none');
    expect(explain(' \n ; \n', 'tool')).toContain('allowed none');
  });
});

describe('a bare name', () => {
  test('is not the last part of a path that a caller gives', () => {
    expect(isAllowed('tool', `${folder}/later/tool`)).toBe(false);
    expect(isAllowed('tool', './tool')).toBe(false);
    expect(isAllowed('tool', 'bin/tool')).toBe(false);
    expect(isAllowed('tool', '/tmp/evil/tool')).toBe(false);
    expect(isAllowed('tool', 'TOOL')).toBe(false);
    expect(isAllowed('tool', 'tool ')).toBe(false);
    expect(isAllowed('tool', '')).toBe(false);
  });

  test('is the first such program on PATH, with any arguments', () => {
    expect(isAllowed('tool', 'tool')).toBe(true);
    expect(isAllowed('tool', 'tool', '--any', '; rm -rf /', '$(id)')).toBe(true);
    expect(isAllowed('tool', `${folder}/bin/tool`)).toBe(true);
    const { path } = new AllowList('tool', searchPath).resolve({ command: 'tool', args: [] });
    expect(path).toBe(`${folder}/bin/tool`);
  });

  test('passes over what cannot be executed', () => {
    const { path } = new AllowList('other', searchPath).resolve({ command: 'other', args: [] });
    expect(path).toBe(`${folder}/later/other`);
  });

  test('is refused in other words when this host has no such program', () => {
    const list = new AllowList('absent\ntool', searchPath);
    expect(list.missing).toEqual(['absent']);
    expect(list.explainRefusal({ command: 'absent', args: [] })).toContain('no such program');
  });
});

describe('an absolute path', () => {
  test('is matched as given only', () => {
    const list = `${folder}/bin/tool`;
    expect(isAllowed(list, list)).toBe(true);
    expect(isAllowed(list, 'tool')).toBe(false);
    expect(isAllowed(list, `${folder}/bin/../bin/tool`)).toBe(false);
    expect(isAllowed(list, `${folder}//bin/tool`)).toBe(false);
  });
});

describe('argument patterns', () => {
  test('fit at every position', () => {
    const list = 'tool -y server-files /srv/*x';
    expect(() => isAllowed(list, 'tool')).toThrow('asterisk');
    expect(isAllowed('tool -y pkg *', 'tool', '-y', 'pkg', '/srv/data')).toBe(true);
    expect(isAllowed('tool -y pkg *', 'tool', '-y', 'pkg')).toBe(false);
    expect(isAllowed('tool -y pkg *', 'tool', '-y', 'pkg', 'a', 'b')).toBe(false);
    expect(isAllowed('tool -y pkg *', 'tool', '-y', 'evil', 'a')).toBe(false);
    expect(isAllowed('tool -y pkg *', 'tool', 'pkg', '-y', 'a')).toBe(false);
  });

  test('end with ** for any rest, none as well', () => {
    expect(isAllowed('tool run **', 'tool', 'run')).toBe(true);
    expect(isAllowed('tool run **', 'tool', 'run', 'a', 'b')).toBe(true);
    expect(isAllowed('tool run **', 'tool', 'evil', 'a')).toBe(false);
    expect(isAllowed('tool run **', 'tool')).toBe(false);
  });

  test('keep in quotes blanks, semicolons and asterisks as they stand', () => {
    expect(isAllowed(`tool 'a b' "it's"`, 'tool', 'a b', "it's")).toBe(true);
    expect(isAllowed(`tool 'a;b'; other`, 'tool', 'a;b')).toBe(true);
    expect(isAllowed(`tool --x='a b'`, 'tool', '--x=a b')).toBe(true);
    expect(isAllowed(`tool ''`, 'tool', '')).toBe(true);
    expect(isAllowed(`tool '*'`, 'tool', '*')).toBe(true);
    expect(isAllowed(`tool '*'`, 'tool', 'x')).toBe(false);
  });

  test('are tried entry by entry', () => {
    const list = 'tool a\r\ntool b; other';
    expect(isAllowed(list, 'tool', 'a')).toBe(true);
    expect(isAllowed(list, 'tool', 'b')).toBe(true);
    expect(isAllowed(list, 'tool', 'c')).toBe(false);
    expect(isAllowed(list, 'other', 'c')).toBe(true);
    expect(explain(list, 'tool', 'c')).toContain('not with these arguments');
  });
});

test('a command with a line break or NUL is refused whatever the list says', () => {
  for (const text of ['a\nb', 'a\0b', 'a\rb']) {
    expect(explain('tool', 'tool', text)).toContain('no line break');
    expect(explain('tool', text)).toContain('no line break');
  }
});

test('a list that says nothing clear keeps the registry from starting', () => {
  const unclear = ["tool 'a", 'tool ** a', './tool', 'bin/tool', '..', '*', "''", 'tool a*'];
  for (const text of unclear) {
    expect(() => new AllowList(text, searchPath), text).toThrow('REGISTRY_STDIO_ALLOW');
  }
});

test('a program that was exchanged for another since the start is not run', async () => {
  const link = join(folder, 'bin', 'linked');
  await symlink(join(folder, 'bin/tool'), link);
  const list = new AllowList('linked', searchPath);
  expect(list.resolve({ command: 'linked', args: [] }).path).toBe(link);
  await rm(link);
  await symlink(join(folder, 'later/tool'), link);
  expect(() => list.resolve({ command: 'linked', args: [] })).toThrow(
    expect.objectContaining({ reason: 'command_not_allowed' }),
  );
  expect(() => list.resolve({ command: 'unknown', args: [] })).toThrow(Fault);
});
