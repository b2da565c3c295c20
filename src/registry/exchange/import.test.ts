import { describe, expect, test } from 'vitest';
import { useExchangeGround } from './exchange-testing.ts';

const ground = useExchangeGround();

describe('an import', () => {
  test('needs registry:write, and so do syncs; what was synced anybody may read', async () => {
    const body = { document: { mcpServers: {} } };
    const claims = { permissions: ['registry:call'] };
    expect((await ground.ask('POST', '/registry/import', { body, claims })).status).toBe(403);
    expect((await ground.ask('POST', '/cms/sync', { body: {}, claims })).status).toBe(403);
    expect((await ground.ask('GET', '/cms/syncs', { claims })).status).toBe(200);
  });

  test.each([
    {},
    { hello: 1 },
    'no json',
    [],
    { mcpServers: [] },
    '{"__proto__":{"mcpServers":{}}}',
  ])('of %j is refused or imports nothing', async (document) => {
    const { status, body } = await ground.load(document);
    if (status === 200) expect(body.imported).toEqual([]);
    else expect(status).toBe(400);
    expect([...ground.connections.all()]).toEqual([]);
  });

  test('takes the settings of VS Code with the comments that they come with', async () => {
    const document = `\uFEFF// Place your settings here
      {"mcp": {"servers": {
        "search": {"url": "https://search.test//mcp"}, // the one of all
      }},}`;
    expect((await ground.load(document)).body).toMatchObject({
      format: 'vscode',
      imported: [{ name: 'search' }],
    });
  });

  test('takes the settings of Zed in both of their forms', async () => {
    const document = `// Zed settings
      {"theme": "One Dark", "context_servers": {
        "files": {"source": "custom", "command": "npx", "args": ["-y", "@scope/files"], "env": {"A": "1"}},
        "elder": {"command": {"path": "serve", "args": ["--all"], "env": null}, "settings": {}},
        "remote": {"url": "https://remote.test/mcp", "headers": {"Authorization": "Bearer x"}},
        "off": {"enabled": false, "command": "serve"},
        "postgres": {"source": "extension", "settings": {"database_url": "x"}},
      }}`;
    expect((await ground.load(document)).body).toMatchObject({
      format: 'zed',
      imported: [
        { name: 'files', protocol: 'stdio' },
        { name: 'elder', protocol: 'stdio' },
        { name: 'remote', protocol: 'http' },
      ],
      skipped: [
        { name: 'off', reason: 'disabled' },
        { name: 'postgres', reason: 'unsupported' },
      ],
      errors: [],
    });
    const endpoints = [...ground.connections.all()].map(({ endpoint }) => endpoint);
    expect(endpoints).toContainEqual({ command: 'serve', args: ['--all'] });
  });

  test('takes the settings of Gemini CLI, whose variables may stand without braces', async () => {
    const mcpServers = {
      remote: {
        httpUrl: 'https://remote.test/mcp',
        url: 'https://remote.test/sse',
        headers: { Authorization: 'Bearer $TOKEN' },
        trust: true,
      },
      files: { command: 'serve', args: ['$ROOT'], env: { API_KEY: '$FILES_KEY', COST: '5$' } },
    };
    const inputs = { TOKEN: 't', ROOT: '/srv' };
    expect((await ground.load({ mcpServers }, { inputs })).body).toMatchObject({
      format: 'gemini',
      imported: [
        { name: 'remote', protocol: 'http', needs: [], unknown: ['trust'] },
        { name: 'files', protocol: 'stdio', needs: ['FILES_KEY'] },
      ],
    });
    const endpoints = [...ground.connections.all()].map(({ endpoint }) => endpoint);
    expect(endpoints).toEqual([
      { url: 'https://remote.test/mcp', headers: { Authorization: 'Bearer t' } },
      { command: 'serve', args: ['/srv'], env: { COST: '5$' } },
    ]);
  });

  test('takes the configuration of opencode', async () => {
    const mcp = {
      files: {
        type: 'local',
        command: ['serve', '--all'],
        environment: { A: '1', K: '{env:KEY}' },
      },
      remote: {
        type: 'remote',
        url: 'https://remote.test/mcp',
        headers: { Authorization: 'Bearer {env:TOKEN}', 'X-Key': '{file:~/.secrets/key}' },
        oauth: {},
        timeout: 5000,
      },
      off: { type: 'local', command: ['serve'], enabled: false },
    };
    const inputs = { TOKEN: 't' };
    expect((await ground.load({ theme: 'x', mcp }, { inputs })).body).toMatchObject({
      format: 'opencode',
      imported: [
        { name: 'files', protocol: 'stdio', needs: ['KEY'] },
        { name: 'remote', protocol: 'http', needs: ['SECRETS_KEY'], unknown: ['timeout'] },
      ],
      skipped: [{ name: 'off', reason: 'disabled' }],
    });
    const endpoints = [...ground.connections.all()].map(({ endpoint }) => endpoint);
    expect(endpoints).toEqual([
      { command: 'serve', args: ['--all'], env: { A: '1' } },
      { url: 'https://remote.test/mcp', headers: { Authorization: 'Bearer t' } },
    ]);
  });

  test('that is of no known format is told what would make it one', async () => {
    const { status, body } = await ground.load({ mcp: { files: {} } });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('mcpServers');
  });

  test('takes the file of Claude and Cursor, and says what it lacks', async () => {
    const document = {
      mcpServers: {
        files: { command: 'npx', args: ['-y', '@scope/files', '/data'], env: { DEBUG: '1' } },
        'my search': {
          url: 'https://search.test/mcp',
          headers: { Authorization: 'Bearer ${KEY}' },
        },
        socket: { url: 'wss://socket.test/mcp' },
        old: { type: 'sse', url: 'https://old.test/sse' },
        off: { command: 'x', disabled: true },
        half: { command: 'serve', args: ['--token', '${env:TOKEN}'] },
        odd: { type: 'carrier-pigeon' },
        placed: { command: 'serve', cwd: '/srv/data', envFile: '/srv/.env' },
        '!!!': { command: 'x' },
      },
    };
    const { status, body } = await ground.load(document);
    expect(status).toBe(200);
    expect(body).toMatchObject({ format: 'mcp.json', dryRun: false, errors: [] });
    expect(body.imported).toEqual([
      { name: 'files', id: expect.stringMatching(/^con_/), protocol: 'stdio', needs: [] },
      { name: 'my-search', id: expect.any(String), protocol: 'http', needs: ['KEY'] },
      { name: 'socket', id: expect.any(String), protocol: 'websocket', needs: [] },
    ]);
    expect(body.skipped).toEqual([
      { name: 'old', reason: 'unsupported' },
      { name: 'off', reason: 'disabled' },
      { name: 'half', reason: 'input_needed', needs: ['TOKEN'] },
      { name: 'odd', reason: 'unsupported' },
      { name: 'placed', reason: 'unsupported', unknown: ['cwd', 'envFile'] },
      { name: '!!!', reason: 'unsupported' },
    ]);
    expect(ground.connections.get('files').endpoint).toEqual({
      command: 'npx',
      args: ['-y', '@scope/files', '/data'],
      env: { DEBUG: '1' },
    });
    expect(ground.connections.get('my-search').endpoint).toEqual({
      url: 'https://search.test/mcp',
    });
  });

  test('says what of an entry it passed over, and takes none that is a command and an address', async () => {
    const url = 'https://search.test/mcp';
    const document = {
      mcpServers: {
        search: { url, auth: { CLIENT_ID: 'mine', CLIENT_SECRET: 'secret-8' }, env: {} },
        files: { command: 'files', autoApprove: ['read'], alwaysAllow: [] },
        both: { command: 'files', url },
        told: { type: 'http', command: 'files', url },
      },
    };
    const { body } = await ground.load(document);
    expect(body.imported).toMatchObject([
      { name: 'search', unknown: ['auth'] },
      { name: 'files', unknown: ['autoApprove'] },
      { name: 'told', protocol: 'http', unknown: ['command'] },
    ]);
    expect(body.skipped).toEqual([
      { name: 'both', reason: 'ambiguous', unknown: ['command', 'url'] },
    ]);
    expect(JSON.stringify(body)).not.toContain('secret-8');
  });

  test('fills placeholders from what is given, and never from its own environment', async () => {
    const headers = { Authorization: 'Bearer ${input:key}', Home: '${HOME}', Mode: '${M:-plain}' };
    const document = {
      inputs: [{ id: 'key', type: 'promptString', password: true }],
      servers: { search: { type: 'http', url: 'https://search.test/mcp', headers } },
    };
    const { body } = await ground.load(document, { inputs: { key: 'secret-7' } });
    expect(body).toMatchObject({ format: 'vscode', imported: [{ needs: ['HOME'] }] });
    expect(JSON.stringify(body)).not.toContain('secret-7');
    const filled = { Authorization: 'Bearer secret-7', Mode: 'plain' };
    expect(ground.connections.get('search').endpoint).toMatchObject({ headers: filled });
  });

  test('twice imports nothing the second time, and never replaces another server', async () => {
    const document = { mcpServers: { files: { command: 'files', args: [] } } };
    await ground.load(document);
    const again = await ground.load(document);
    expect(again.body).toMatchObject({
      imported: [],
      skipped: [{ name: 'files', reason: 'already_registered' }],
    });
    const other = await ground.load({ mcpServers: { files: { command: 'other' } } });
    expect(other.body.skipped).toEqual([{ name: 'files', reason: 'name_taken' }]);
    expect(ground.connections.get('files').endpoint).toMatchObject({ command: 'files' });
  });

  test('that is only tried registers nothing; a prefix goes before every name', async () => {
    const document = { mcpServers: { files: { command: 'files' } } };
    const { body } = await ground.load(document, { dryRun: true, prefix: 'team-' });
    expect(body).toMatchObject({ dryRun: true, imported: [{ name: 'team-files' }] });
    expect(body.imported[0]).not.toHaveProperty('id');
    expect([...ground.connections.all()]).toEqual([]);
  });

  test('of what no connection may have is an error of its own', async () => {
    const document = {
      mcpServers: {
        huge: { command: 'x', args: Array.from({ length: 200 }, String) },
        fine: { command: 'fine' },
      },
    };
    for (const dryRun of [true, false]) {
      const { body } = await ground.load(document, { dryRun });
      expect(body.imported).toMatchObject([{ name: 'fine' }]);
      expect(body.errors).toMatchObject([{ name: 'huge', code: 'invalid' }]);
    }
  });
});
