import { expect, test } from 'vitest';
import { pathBeside } from './paths.ts';

const at = new Date('2026-01-31T14:25:01.500Z');

test('puts a copy beside its file, with the ending kept', () => {
  expect(pathBeside('src/a.test.ts', at)).toBe('src/a.test.mine-20260131-142501.ts');
  expect(pathBeside('Makefile', at)).toBe('Makefile.mine-20260131-142501');
  expect(pathBeside('src/.env', at)).toBe('src/.env.mine-20260131-142501');
});
