import { expect, test } from 'vitest';
import { registrationOf, type RegistrationDraft } from './registration.ts';

const draft: RegistrationDraft = {
  agentId: ' a1 ',
  capabilities: 'chat, search\nchat',
  kind: 'inbox',
  address: '',
  metadata: '',
  heartbeatInterval: '',
  isIdempotent: false,
};

test('an agent without an address has no endpoint', () => {
  expect(registrationOf(draft)).toEqual({ agentId: 'a1', capabilities: ['chat', 'search'] });
});

test('an address stands under its kind', () => {
  const rest = registrationOf({ ...draft, kind: 'rest', address: 'http://127.0.0.1:9/ ' });
  expect(rest.endpoints).toEqual({ rest: 'http://127.0.0.1:9/' });
});

test('a card tells what is left out', () => {
  const card = registrationOf({
    ...draft,
    agentId: '',
    capabilities: '',
    kind: 'card',
    address: 'http://127.0.0.1:9/card.json',
  });
  expect(card).toEqual({ agentCardUrl: 'http://127.0.0.1:9/card.json' });
});

test('metadata that are no object are told before anything is sent', () => {
  expect(() => registrationOf({ ...draft, metadata: '[1]' })).toThrow('must be a JSON object');
  expect(() => registrationOf({ ...draft, metadata: '{' })).toThrow('the metadata is no JSON');
});
