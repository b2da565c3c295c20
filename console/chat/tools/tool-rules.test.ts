import { expect, test } from 'vitest';
import { byConnection, isAllowed, toggleConnection, toggleTool } from './tool-rules.ts';

const read = { name: 'files__read', connection: 'files' };
const write = { name: 'files__write', connection: 'files' };
const find = { name: 'search__find', connection: 'search' };
const files = [read, write];

test('a tool is allowed by its name and by its connection', () => {
  expect(isAllowed(new Set(['files__read']), read)).toBe(true);
  expect(isAllowed(new Set(['files__*']), write)).toBe(true);
  expect(isAllowed(new Set(['files__*']), find)).toBe(false);
});

test('a tool is toggled by itself', () => {
  const one = toggleTool(new Set(), read, files);
  expect([...one]).toEqual(['files__read']);
  expect([...toggleTool(one, read, files)]).toEqual([]);
});

test('without one tool the others of its connection stay', () => {
  expect([...toggleTool(new Set(['files__*']), read, files)]).toEqual(['files__write']);
});

test('a whole connection stands for its tools', () => {
  const all = toggleConnection(new Set(['files__read', 'search__find']), 'files', files);
  expect([...all]).toEqual(['search__find', 'files__*']);
  expect([...toggleConnection(all, 'files', files)]).toEqual(['search__find']);
});

test('tools are found below their connections', () => {
  expect([...byConnection([find, ...files]).keys()]).toEqual(['search', 'files']);
});
