import { expect, test } from 'vitest';
import { knownRoles } from './known-roles.ts';

test('gives a role of several mappings what they have in common', () => {
  const roles = knownRoles([
    { idpGroup: 'a', platformRole: 'developer', permissions: ['agent:read', 'agent:execute'] },
    { idpGroup: 'b', platformRole: 'developer', permissions: ['agent:read'] },
  ]);
  expect(roles).toEqual([
    { name: 'admin', permissions: ['*'] },
    { name: 'developer', permissions: ['agent:read'] },
  ]);
});

test('names a role that is held though no mapping has it any more', () => {
  expect(knownRoles([], ['former'])).toContainEqual({ name: 'former', permissions: [] });
});
