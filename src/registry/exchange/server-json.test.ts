import { describe, expect, test } from 'vitest';
import { useExchangeGround } from './exchange-testing.ts';
import { send, startCms } from './testing.ts';

const ground = useExchangeGround();

describe('a server.json', () => {
  const weather = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: 'io.github.example/weather',
    description: 'Says the weather',
    version: '1.2.3',
  };
  const npm = {
    registryType: 'npm',
    identifier: '@example/weather',
    version: '1.2.3',
    transport: { type: 'stdio' },
    packageArguments: [
      { type: 'positional', value: 'serve' },
      { type: 'named', name: '--units', default: 'metric' },
      { type: 'named', name: '--verbose' },
    ],
    environmentVariables: [
      { name: 'API_KEY', isRequired: true, isSecret: true },
      { name: 'REGION', default: 'north' },
    ],
  };

  test('with a package becomes the command that runs it, its version pinned', async () => {
    const { body } = await ground.load({ ...weather, packages: [npm] });
    expect(body).toMatchObject({ format: 'server.json', skipped: [], errors: [] });
    const entry = { name: 'io-github-example-weather', protocol: 'stdio', needs: ['API_KEY'] };
    expect(body.imported).toMatchObject([entry]);
    expect(ground.connections.get('io-github-example-weather')).toMatchObject({
      endpoint: {
        command: 'npx',
        args: ['-y', '@example/weather@1.2.3', 'serve', '--units', 'metric', '--verbose'],
        env: { REGION: 'north' },
      },
      metadata: { description: 'Says the weather', serverName: 'io.github.example/weather' },
    });
  });

  test.each([
    ['pypi', 'weather-mcp', 'uvx', ['weather-mcp@1.2.3']],
    [
      'oci',
      'localhost:5000/weather',
      'docker',
      ['run', '-i', '--rm', '-e', 'API_KEY', 'localhost:5000/weather:1.2.3'],
    ],
    [
      'oci',
      'ghcr.io/example/weather:2',
      'docker',
      ['run', '-i', '--rm', '-e', 'API_KEY', 'ghcr.io/example/weather:2'],
    ],
    ['nuget', 'Example.Weather', 'dnx', ['Example.Weather@1.2.3', '--yes']],
  ])('with a package of %s, %s, is run by %s', async (registryType, identifier, command, args) => {
    const { packageArguments: _, ...rest } = npm;
    const environmentVariables = [{ name: 'API_KEY', isRequired: true }];
    const one = { ...rest, registryType, identifier, environmentVariables };
    await ground.load({ ...weather, packages: [one] }, { inputs: { API_KEY: 'k' } });
    const endpoint = { command, args, env: { API_KEY: 'k' } };
    expect(ground.connections.get('io-github-example-weather').endpoint).toEqual(endpoint);
  });

  test('that only speaks HTTP+SSE is skipped, or run by its package', async () => {
    const remotes = [{ type: 'sse', url: 'https://weather.test/sse' }];
    const { body } = await ground.load({ ...weather, remotes });
    expect(body.skipped).toEqual([{ name: 'io-github-example-weather', reason: 'unsupported' }]);
    const run = await ground.load({ ...weather, remotes, packages: [npm] });
    expect(run.body.imported).toMatchObject([{ protocol: 'stdio' }]);
  });

  test('that brings the option of its runner is not given it twice', async () => {
    const runtimeArguments = [{ type: 'positional', value: '-y' }];
    const { packageArguments: _, ...rest } = npm;
    await ground.load({ ...weather, packages: [{ ...rest, runtimeArguments }] });
    expect(ground.connections.get('io-github-example-weather').endpoint).toMatchObject({
      args: ['-y', '@example/weather@1.2.3'],
    });
  });

  test('with an address is reached there, once its variables have values', async () => {
    const remote = {
      type: 'streamable-http',
      url: 'https://{tenant}.weather.test/mcp',
      variables: { tenant: { isRequired: true } },
      headers: [
        {
          name: 'Authorization',
          value: 'Bearer {token}',
          variables: { token: { isSecret: true } },
        },
        { name: 'X-Plain', value: 'a{b}' },
      ],
    };
    const listing = { servers: [{ server: { ...weather, remotes: [remote], packages: [npm] } }] };
    const without = await ground.load(listing);
    expect(without.body.skipped).toMatchObject([{ reason: 'input_needed', needs: ['tenant'] }]);
    const { body } = await ground.load(listing, { inputs: { tenant: 'acme' } });
    expect(body.imported).toMatchObject([{ protocol: 'http', needs: ['token'] }]);
    expect(ground.connections.get('io-github-example-weather').endpoint).toEqual({
      url: 'https://acme.weather.test/mcp',
      headers: { 'X-Plain': 'a{b}' },
    });
  });

  test('that cannot be run here is skipped', async () => {
    const mcpb = { ...npm, registryType: 'mcpb', identifier: 'https://x.test/a.mcpb' };
    const served = {
      ...npm,
      transport: { type: 'streamable-http', url: 'http://localhost:{port}' },
    };
    const option = { ...npm, identifier: '--eval=1' };
    const shell = { ...npm, version: 'latest; rm -rf /' };
    for (const packages of [[mcpb], [served], [option], [shell], []]) {
      const { body } = await ground.load({ ...weather, packages });
      expect(body.skipped).toEqual([{ name: 'io-github-example-weather', reason: 'unsupported' }]);
    }
  });

  test('is found in a registry of such, page by page, as the latest version', async () => {
    await using registry = await startCms();
    const entry = (name: string, status = 'active') => ({
      server: {
        ...weather,
        name,
        remotes: [{ type: 'streamable-http', url: `https://${name}.test/` }],
      },
      _meta: { 'io.modelcontextprotocol.registry/official': { status } },
    });
    registry.spoil =
      ({ path }) =>
      (response) => {
        const isFirst = !path.includes('cursor=');
        const servers = isFirst ? [entry('a'), entry('b', 'deleted')] : [entry('c'), entry('d')];
        send(response, 200, { servers, metadata: isFirst ? { nextCursor: 'x y' } : {} });
      };
    const body = { url: registry.url, search: 'weather', limit: 2 };
    const answer = await ground.ask('POST', '/registry/import-registry', { body });
    expect(answer.body.imported).toMatchObject([{ name: 'a' }, { name: 'c' }]);
    expect(registry.requests.map(({ path }) => path)).toEqual([
      '/site/v0.1/servers?version=latest&limit=2&search=weather',
      '/site/v0.1/servers?version=latest&limit=1&search=weather&cursor=x+y',
    ]);
    const guarded = await ground.ask('POST', '/registry/import-registry', {
      body: { url: 'http://169.254.169.254' },
    });
    expect(guarded).toMatchObject({ status: 403 });
  });
});
