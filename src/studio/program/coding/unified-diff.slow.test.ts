import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { unifiedDiff } from './unified-diff.ts';

const folder = mkdtempSync(join(tmpdir(), 'studio-diff-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What git makes of the file with the diff. */
function applied(before: string | undefined, after: string): string {
  const file = join(folder, 'a.txt');
  rmSync(file, { force: true });
  if (before !== undefined) writeFileSync(file, before);
  const diff = unifiedDiff({ path: 'a.txt', before, after });
  if (diff === '') return before ?? '';
  execFileSync('git', ['apply', '--unidiff-zero', '-'], { cwd: folder, input: diff });
  return readFileSync(file, 'utf8');
}

test('a small change is the lines around it and no more', () => {
  const before = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((line) => `${line}\n`).join('');
  expect(unifiedDiff({ path: 'n.txt', before, after: before.replace('5', 'five') })).toBe(
    '--- a/n.txt\n+++ b/n.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
  );
  expect(unifiedDiff({ path: 'n.txt', before, after: before })).toBe('');
  expect(unifiedDiff({ path: 'n.txt', before: undefined, after: 'x' })).toBe(
    '--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n',
  );
});

test('git takes every diff', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  const text = () => {
    const lines = Array.from({ length: 1 + random(30) }, () => `line ${random(6)}`);
    return lines.join('\n') + (random(3) === 0 ? '' : '\n');
  };
  for (let round = 0; round < 60; round += 1) {
    const [before, after] = [text(), text()];
    expect(applied(before, after)).toBe(after);
  }
  expect(applied(undefined, 'new\n')).toBe('new\n');
  const many = (mark: string) =>
    Array.from({ length: 2_000 }, (_, line) => `${mark} ${line}\n`).join('');
  expect(applied(`same\n${many('a')}end\n`, `same\n${many('b')}end\n`)).toContain('b 1999');
});
