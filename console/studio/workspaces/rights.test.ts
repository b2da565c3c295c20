import { expect, test } from 'vitest';
import { rightsIn } from './rights.ts';

const members = [
  { userId: 'usr_1', role: 'Developer' },
  { userId: 'usr_2', role: 'Guest' },
] as const;

test('a developer edits files, and administers nothing', () => {
  const rights = rightsIn({ members: [...members] }, { sub: 'usr_1', permissions: [] });
  expect(rights).toMatchObject({ mayEditFiles: true, mayAdminister: false, mayRunAgents: false });
});

test('a guest reads no files, whatever may be done elsewhere', () => {
  const rights = rightsIn({ members: [...members] }, { sub: 'usr_2', permissions: ['agent:read'] });
  expect(rights).toMatchObject({ mayReadFiles: false, maySeeAgents: false });
});

test('who administers the studio is Admin of every workspace', () => {
  const rights = rightsIn({ members: [...members] }, { sub: 'usr_3', permissions: ['*'] });
  expect(rights).toMatchObject({ role: 'Admin', mayAdminister: true, mayRunAgents: true });
});
