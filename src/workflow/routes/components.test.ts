import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestServer } from '../../kit/testing.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import type { Contract } from '../../kit/contract.ts';
import { markerOf } from '../components/schema.ts';
import { createTable } from '../components/table.ts';
import { openIdleComponents } from '../components/testing.ts';
import { componentRoutes, type ComponentAnswer } from '../schemas/components.ts';
import { componentHandlers } from './components.ts';

const table = openIdleComponents();
const contract = {
  name: 'workflow',
  title: 'Components',
  version: '0.1.0',
  description: 'Components alone.',
  error: plainEnvelope.schema,
  routes: componentRoutes,
} as const satisfies Contract;

let server: Awaited<ReturnType<typeof createTestServer>>;
let authorization: string;

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, componentHandlers(table));
  authorization = `Bearer ${await server.issuer.sign()}`;
});
afterAll(() => server.http.close(0));

async function get(path: string, headers: Record<string, string> = { authorization }) {
  const { statusCode, body } = await server.http.app.inject({ url: path, headers });
  return { status: statusCode, body: JSON.parse(body) };
}

describe('The components', () => {
  test('are for those with a token only, whatever they hold', async () => {
    expect(await get('/api/v1/components', {})).toMatchObject({ status: 401 });
    expect(await get('/api/v1/components')).toMatchObject({ status: 200 });
  });

  test('are listed by group, with the schemas of what they take and give', async () => {
    const { body } = await get('/api/v1/components?group=logic');
    const names = body.components.map(({ name }: ComponentAnswer) => name);
    expect(names).toEqual([
      'Condition',
      'Switch',
      'Loop',
      'Parallel',
      'Merge',
      'Placeholder',
      'Wait',
      'Approval',
      'SubWorkflow',
    ]);
    expect(body).toMatchObject({
      total: 9,
      groups: [{ name: 'logic', title: 'Logic', components: names }],
    });
    expect(body.components[0]).toMatchObject({
      inputs: { condition: { 'x-ennead': 'cel', anyOf: [{ type: 'string' }, {}] } },
      required: ['condition'],
      outputs: { result: { type: 'boolean' } },
      handles: ['true', 'false'],
      hasOwnHandles: false,
      effect: 'none',
    });
  });

  test('are those of the interface, and more', async () => {
    const { body } = await get('/api/v1/components');
    const members = body.groups.map((one: { name: string; components: string[] }) => [
      one.name,
      one.components,
    ]);
    expect(Object.fromEntries(members)).toMatchObject({
      ai: ['LLMNode', 'VectorSearch', 'Embeddings', 'ImageGen'],
      cms: ['EntityCreate', 'EntityLoad', 'EntityUpdate', 'UserLogin'],
      tools: expect.arrayContaining(['MCPToolCall', 'MCPServerQuery', 'FileSystemRead', 'IdpAPI']),
      logic: expect.arrayContaining(['Condition', 'Loop', 'Parallel', 'Merge']),
      data: ['Transform', 'HttpRequest'],
    });
  });

  test('can be read one by one', async () => {
    expect(await get('/api/v1/components/Switch')).toMatchObject({
      status: 200,
      body: { name: 'Switch', hasOwnHandles: true, handles: ['default'] },
    });
    expect(await get('/api/v1/components/Loop')).toMatchObject({ body: { control: 'loop' } });
  });

  test.each([['Nothing'], ['__proto__'], ['constructor']])('do not hold %s', async (name) => {
    expect(await get(`/api/v1/components/${name}`)).toMatchObject({ status: 404 });
  });

  test('that no group has cannot be asked for', async () => {
    expect(await get('/api/v1/components?group=none')).toMatchObject({ status: 400 });
  });
});

describe('Each component', () => {
  test.each([...table.values()].map((component) => [component.name, component] as const))(
    '%s has words, and examples that fit its settings',
    (_name, component) => {
      expect(component.description.length).toBeGreaterThan(20);
      const { examples } = component.input as { readonly examples?: readonly object[] };
      expect(examples?.length).toBeGreaterThan(0);
      const validator = Compile(component.input);
      for (const example of examples ?? []) {
        const isTemplated = Object.values(example).some((value) => /^\{\{.*\}\}$/.test(`${value}`));
        if (!isTemplated) expect(validator.Check(example), JSON.stringify(example)).toBe(true);
        expect(component.check?.({ ...example }) ?? []).toEqual([]);
      }
    },
  );

  test('has a name of its own', () => {
    const [first] = table.values();
    expect(() => createTable(first ? [first, first] : [])).toThrow('same name');
  });

  test('is marked where it takes conditions and code', () => {
    const markers = (name: string): unknown[] => {
      const input = table.get(name)?.input as { properties: Record<string, object> } | undefined;
      return Object.values(input?.properties ?? {}).map((schema) => markerOf(schema));
    };
    expect(markers('Condition')).toEqual(['cel']);
    expect(markers('Transform')).toContain('code');
  });
});
