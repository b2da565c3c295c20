import { Validator } from '@seriousme/openapi-schema-validator';
import fastJson from 'fast-json-stringify';
import { existsSync, readFileSync } from 'node:fs';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { pathsOf } from '../src/kit/contract.ts';
import { describeContract } from '../src/kit/openapi.ts';
import { permissionPattern } from '../src/kit/permissions.ts';
import { generatedFiles } from '../src/generated.ts';
import { services } from '../src/services.ts';

type DescribedPaths = Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;

interface DescribedOperation {
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
}

const root = new URL('../', import.meta.url);
const contracts = services.map(({ contract }) => [contract.name, contract] as const);

test.each(Object.entries(generatedFiles()))(
  '%s is what the code says; else run `npm run gen`',
  (name, text) => {
    const path = new URL(name, root);
    expect(existsSync(path) && readFileSync(path, 'utf8')).toBe(text);
  },
);

describe.each(contracts)('the contract of %s', (name, contract) => {
  test('gives a valid OpenAPI 3.1 document', async () => {
    const { valid, errors } = await new Validator().validate(
      structuredClone(describeContract(contract)),
    );
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  test('has no component that refers to itself', () => {
    const { components } = describeContract(contract) as {
      readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
    };
    for (const [component, schema] of Object.entries(components.schemas)) {
      const text = JSON.stringify(schema);
      expect(text, component).not.toContain(`"#/components/schemas/${component}"`);
    }
  });

  test('has schemas that can be compiled, which the edge does when they are first needed', () => {
    for (const route of Object.values(contract.routes)) {
      const title = `${route.method} ${pathsOf(route)[0]}`;
      const { response, ...requests } = route.schema;
      for (const [httpStatus, answer] of Object.entries(response)) {
        const write = fastJson(answer);
        expect(write, `${title} ${httpStatus}`).toBeTypeOf('function');
      }
      for (const part of Object.values(requests)) {
        expect(Compile(part).Check, title).toBeTypeOf('function');
      }
    }
  });

  test('has each method and path once', () => {
    const keys = Object.values(contract.routes).flatMap((route) =>
      pathsOf(route).map((path) => `${route.method} ${path}`),
    );
    expect(keys.length).toBe(new Set(keys).size);
  });

  test('says of every route and parameter what it is', () => {
    const { paths } = describeContract(contract) as { readonly paths: DescribedPaths };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method} ${path}`, operation] as const,
      ),
    );
    const silent = operations.flatMap(([title, { summary, parameters = [] }]) => [
      ...(summary ? [] : [title]),
      ...parameters.filter((one) => !one.description).map((one) => `${title}: ${one.name}`),
    ]);
    expect(silent).toEqual([]);
  });

  test('asks for permissions in the form <area>:<action>', () => {
    const asked = Object.values(contract.routes).flatMap(({ permission }) => permission ?? []);
    for (const permission of asked) expect(permission).toMatch(new RegExp(permissionPattern));
  });

  test('answers its health without a token at /health', () => {
    const health = contract.routes['health'];
    expect(health && pathsOf(health)).toContain('/health');
    expect(health?.auth).toBe('none');
  });

  test('bounds every list of a request', () => {
    const unbounded = Object.entries(contract.routes).flatMap(([route, { schema }]) => [
      ...unboundedIn(schema.query, `${name}.${route}.query`),
      ...unboundedIn(schema.body, `${name}.${route}.body`),
    ]);
    expect(unbounded).toEqual([]);
  });
});

/** Lists in a schema without a largest length. */
function unboundedIn(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = schema as { type?: string; maxItems?: number };
  const here = own.type === 'array' && own.maxItems === undefined ? [path] : [];
  return [
    ...here,
    ...Object.entries(schema).flatMap(([key, value]) => unboundedIn(value, `${path}.${key}`)),
  ];
}
