import { expect, test } from 'vitest';
import {
  draftOfServer,
  emptyDraft,
  isPicked,
  serverOf,
  togglePick,
  type VirtualServer,
} from './virtual-server-draft.ts';

const server: VirtualServer = {
  id: 'vsr_1',
  name: 'math',
  description: 'Sums',
  tools: ['calc__add_all', { connection: 'calc', tool: 'mul', as: 'times' }],
  prompts: [{ connection: 'calc', prompt: 'explain', as: 'why' }, 'calc__*'],
  resources: ['calc', { connection: 'docs', uri: 'docs://a' }],
  lean: true,
  url: 'http://127.0.0.1/mcp/math',
  offers: { tools: [], prompts: [], resources: [] },
  missing: [],
  createdBy: 'u',
  createdAt: '',
  updatedAt: '',
};

test('a server that is read into the form and sent again picks the same', () => {
  expect(serverOf(draftOfServer(server))).toEqual({
    name: 'math',
    description: 'Sums',
    tools: [
      { connection: 'calc', tool: 'add_all' },
      { connection: 'calc', tool: 'mul', as: 'times' },
    ],
    prompts: [
      { connection: 'calc', prompt: 'explain', as: 'why' },
      { connection: 'calc', prompt: '*' },
    ],
    resources: ['calc', { connection: 'docs', uri: 'docs://a' }],
    lean: true,
  });
});

test('a pick that is there is taken away, another is added behind', () => {
  const one = togglePick([], { connection: 'calc', tool: 'add' });
  expect(one).toEqual([{ connection: 'calc', tool: 'add', as: '' }]);
  expect(togglePick(one, { connection: 'calc', tool: 'add' })).toEqual([]);
});

test('all of a server holds each of its tools', () => {
  const all = togglePick([], { connection: 'calc', tool: '*' });
  expect(isPicked(all, { connection: 'calc', tool: 'add' })).toBe(true);
  expect(isPicked(all, { connection: 'docs', tool: 'add' })).toBe(false);
});

test('what is no name of a prompt goes as it is, so that the registry says why not', () => {
  expect(serverOf({ ...emptyDraft, prompts: 'odd' }).prompts).toEqual(['odd']);
});
