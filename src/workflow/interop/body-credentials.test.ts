import { expect, test } from 'vitest';
import { bareBody } from './body-credentials.ts';
import { bareDraft } from './draft-credentials.ts';
import { keepSettings } from './kept-settings.ts';
import { importN8n } from './n8n/import.ts';
import { documentOf, hook } from './n8n/testing.ts';

test.each([
  [{ client_secret: 's3cret', id: 'a' }, { client_secret: '', id: 'a' }, ['client_secret']],
  [{ auth: [{ password: 's3cret' }] }, { auth: [{ password: '' }] }, ['password']],
  [{ pin: { access_token: 4711 } }, { pin: { access_token: '' } }, ['access_token']],
  [
    { credentials: { user: 'u', password: 'p' } },
    { credentials: { user: 'u', password: '' } },
    ['password'],
  ],
  ['grant=x&client_secret=s3cret&a=1', 'grant=x&client_secret=&a=1', ['client_secret']],
  ['{"api_key": "s3cret", "n": {{ n }}}', '{"api_key": "", "n": {{ n }}}', ['api_key']],
  ['{"token": "a\\"b", "q": "c"}', '{"token": "", "q": "c"}', ['token']],
  [
    '{"s": "{\\"password\\":\\"p\\"}", "n": 1}',
    '{"s": "{\\"password\\":\\"\\"}", "n": 1}',
    ['password'],
  ],
  ['{"x": "a=1&password=p", "u": "v"}', '{"x": "a=1&password=", "u": "v"}', ['password']],
  ['[{"value":"p", "name":"password"}]', '[{"value":"", "name":"password"}]', ['password']],
  [[{ name: 'password', value: 'p' }], [{ name: 'password', value: '' }], ['password']],
  ['x=%7B%22pwd%22%3A%22p%22%7D&y=%41', 'x=%7B%22pwd%22%3A%22%22%7D&y=%41', ['pwd']],
  ['x={"pwd": "p"}&client%5Fsecret=s', 'x={"pwd": ""}&client%5Fsecret=', ['client_secret', 'pwd']],
  [
    '{"secret": ["a", "b"], "token": 47.11}',
    '{"secret": ["", ""], "token": ""}',
    ['secret', 'token'],
  ],
  [
    { s: '{"t":"{\\"pin\\":{{ n }},\\"token\\":\\"{{ $json["a"] }}x\\"}"}' },
    { s: '{"t":"{\\"pin\\":{{ n }},\\"token\\":\\"\\"}"}' },
    ['token'],
  ],
])('%j loses its secrets', (body, bared, names) => {
  expect(bareBody(body)).toEqual({ body: bared, names });
});

test.each([
  { token: '{{ inputs.token }}', max_tokens: 5, text: 'my password is long' },
  'a=1&token={{ inputs.token }}',
  '{"token": "{{ inputs.token }}", "say": "a=b"}',
  'Dear all, the token=... is in the mail',
  '{"s": "{\\"token\\":\\"{{ $json["a"] }}\\"}", "big": 12345678901234567890}',
  '{"name": "token", "value": "{{ inputs.token }}"}',
  undefined,
])('%j stays as it is', (body) => {
  expect(bareBody(body)).toEqual({ body, names: [] });
});

test('time grows with the text and no faster', () => {
  const text = `${'"a'.repeat(200_000)}${'\\'.repeat(100_000)}${'&a'.repeat(200_000)}`;
  expect(bareBody(text).names).toEqual([]);
  expect(bareBody(`"${'\\\\"'.repeat(200_000)}`).names).toEqual([]);
  expect(bareBody(`x=${'%25'.repeat(200_000)}`).names).toEqual([]);
});

test('the report names the secret of an imported body, and the flow has it no more', () => {
  const parameters = {
    method: 'POST',
    url: 'https://h.test/token',
    sendBody: true,
    bodyParameters: {
      parameters: [
        { name: 'client_secret', value: 's3cret' },
        { name: 'scope', value: 'all' },
      ],
    },
  };
  const document = documentOf(
    { Hook: hook, Ask: { type: 'httpRequest', parameters } },
    'Hook > Ask',
  );
  const draft = bareDraft(importN8n(document));
  const asked = draft.steps.find(({ source }) => source === 'Ask');
  expect(asked).toMatchObject({
    status: 'adapted',
    note: expect.stringContaining('"client_secret" in its body was left out') as string,
    node: { data: { body: { client_secret: '', scope: 'all' } } },
  });
  expect(JSON.stringify(asked?.node)).not.toContain('s3cret');
  expect(draft.warnings).toContainEqual(expect.stringMatching(/^Ask: "client_secret" in its body/));
});

test('the report names every secret of a form', () => {
  const body = 'client_secret=SEC1&x=1&password=SEC2&api_key=SEC3&sig=SEC4';
  const parameters = {
    method: 'POST',
    url: 'https://h.test/token',
    sendBody: true,
    contentType: 'raw',
    rawContentType: 'application/x-www-form-urlencoded',
    body,
  };
  const steps = { Hook: hook, Ask: { type: 'httpRequest', parameters } };
  const draft = bareDraft(importN8n(documentOf(steps, 'Hook > Ask')));
  const asked = draft.steps.find(({ source }) => source === 'Ask');
  expect(JSON.stringify(asked?.node)).not.toContain('SEC');
  for (const name of ['client_secret', 'password', 'api_key']) {
    expect(asked?.note).toContain(JSON.stringify(name));
    expect(draft.warnings.join()).toContain(JSON.stringify(name));
  }
});

test.each([
  [{ jsonBody: '{"client_secret":"SEC1","password":"SEC2"}' }],
  [{ jsonBody: '={"client_secret":"SEC1","x":{{ $json.items.map((one) => one.id) }}}' }],
  [{ body: 'client_secret=SEC1&x=1&password=SEC2' }],
  [{ body: '=client_secret=SEC1' }],
  [{ jsonHeaders: '{"Authorization":"Bearer SEC1"}' }],
  [{ jsonBody: '{"s":"{\\"password\\":\\"SEC1\\",\\"u\\":\\"https://h/?token=SEC2\\"}"}' }],
  [{ jsonBody: '={"s":"{\\"password\\":\\"SEC1\\"}","n":{{ $json.n }}}' }],
  [{ body: 'x=%7B%22password%22%3A%22SEC5%22%7D&passwd=SEC6' }],
  [{ body: '[{"name":"password","value":"SEC7"}]' }],
  [{ url: 'https://h/?next=https%3A%2F%2Fh%2F%3Ftoken%3DSEC8' }],
])('a Placeholder keeps %j without the secrets', (settings) => {
  expect(JSON.stringify(keepSettings({ parameters: settings }))).not.toContain('SEC');
});

test('a Placeholder keeps what stands beside a secret, and JSON stays JSON', () => {
  const inner = JSON.stringify({ u: 'https://h/?token=s&q=1', password: 's' });
  const body = JSON.stringify({
    s: inner,
    p: 'x=1&password=s',
    u: 'https://h/?token=s',
    q: 'kept',
  });
  expect(JSON.parse(keepSettings(body) as string)).toEqual({
    s: JSON.stringify({ u: 'https://h/?token=&q=1', password: '' }),
    p: 'x=1&password=',
    u: 'https://h/?token=',
    q: 'kept',
  });
});
