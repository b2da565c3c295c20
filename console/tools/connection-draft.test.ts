import { expect, test } from 'vitest';
import { connectionOf, type ConnectionDraft } from './connection-draft.ts';

const draft: ConnectionDraft = {
  name: 'files',
  protocol: 'stdio',
  command: ' npx ',
  args: '-y\nserver with blanks\n\n/srv',
  env: '',
  url: '',
  headers: '',
  capabilities: '',
  interval: '',
};

test('each line is one argument, blanks inside and all', () => {
  expect(connectionOf(draft)).toEqual({
    name: 'files',
    type: 'server',
    protocol: 'stdio',
    endpoint: { command: 'npx', args: ['-y', 'server with blanks', '/srv'] },
  });
});

test('an address has headers and no command', () => {
  const remote = connectionOf({
    ...draft,
    protocol: 'http',
    url: 'https://example.com/mcp',
    headers: 'Authorization: Bearer a:b',
    capabilities: 'search',
    interval: '60',
  });
  expect(remote.endpoint).toEqual({
    url: 'https://example.com/mcp',
    headers: { Authorization: 'Bearer a:b' },
  });
  expect(remote).toMatchObject({ capabilities: ['search'], healthCheck: { interval: 60 } });
});
