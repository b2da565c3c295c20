import type { TSchema } from 'typebox';
import { formMediaType } from './http/form-body.ts';
import { isBodyOptional } from './http/validation.ts';
import { pathsOf, type Contract, type Route, type SocketRoute } from './contract.ts';

type Json = Readonly<Record<string, unknown>>;

const mediaType = 'application/json';

/**
 * The OpenAPI 3.1 document of a contract. Schemas with an `$id` become named components; everything
 * else is TypeBox's JSON Schema 2020-12 as it stands.
 */
export function describeContract(contract: Contract): Json {
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries(contract.routes)) {
    pathsOf(route).forEach((url, index) => {
      const operationId = index === 0 ? name : `${name}_${index}`;
      const path = (paths[toTemplate(url)] ??= {});
      path[route.method.toLowerCase()] = describeRoute(route, {
        operationId,
        contract,
        components,
      });
    });
  }
  for (const [name, socket] of Object.entries(contract.sockets ?? {})) {
    const path = (paths[toTemplate(socket.url)] ??= {});
    path['get'] = describeSocket(name, socket, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: contract.title,
      version: contract.version,
      description: contract.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: { schemas: components.schemas, securitySchemes: securitySchemes(contract) },
  };
}

interface RouteContext {
  readonly operationId: string;
  readonly contract: Contract;
  readonly components: Components;
}

function describeRoute(route: Route, { operationId, contract, components }: RouteContext): Json {
  const parameters = parametersOf(route);
  const answers = describeAnswers(route, components);
  const requestBody = describeBody(route, components);
  return {
    operationId,
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    ...(route.auth === 'none' ? { security: [] } : {}),
    ...(route.permission ? { 'x-permission': route.permission } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...answers,
      default: {
        description: 'Refusal',
        content: { [mediaType]: { schema: components.refer(contract.error) } },
      },
    },
  };
}

function describeBody({ schema, acceptsForm }: Route, components: Components): Json | undefined {
  const { body } = schema;
  if (!body) return undefined;
  const forms = acceptsForm ? [mediaType, formMediaType] : [mediaType];
  const content = forms.map((form) => [form, { schema: components.refer(body) }]);
  return { required: !isBodyOptional(body), content: Object.fromEntries(content) };
}

function describeAnswers({ schema }: Route, components: Components): Json {
  const { response, stream, lines } = schema;
  const answers = Object.entries(response).map(([status, answer]) => [
    status,
    {
      description: (answer as { description?: string }).description ?? 'Success',
      content: {
        [mediaTypeOf(answer)]: { schema: components.refer(answer) },
        ...(stream ? { 'text/event-stream': { schema: components.refer(stream) } } : {}),
        ...(lines ? { 'application/x-ndjson': { schema: components.refer(lines) } } : {}),
      },
    },
  ]);
  return Object.fromEntries(answers);
}

/** A text says itself what it is when it is no JSON. */
function mediaTypeOf(schema: TSchema): string {
  const { contentMediaType } = schema as { contentMediaType?: string };
  return contentMediaType ?? mediaType;
}

function describeSocket(operationId: string, socket: SocketRoute, components: Components): Json {
  return {
    operationId,
    summary: socket.summary,
    description: describeToken(socket),
    ...(socket.permission ? { 'x-permission': socket.permission } : {}),
    ...(socket.subscribe ? { 'x-subscribe': components.refer(socket.subscribe) } : {}),
    responses: {
      101: { description: 'Switching protocols' },
      200: {
        description: 'Each message',
        content: { [mediaType]: { schema: components.refer(socket.event) } },
      },
    },
  };
}

function describeToken({ authFrame }: SocketRoute): string {
  const ways = 'A WebSocket (RFC 6455): the token goes in a header or in `access_token`';
  return authFrame ? `${ways}, or in a first message \`{"auth": {"token": …}}\`.` : `${ways}.`;
}

function parametersOf(route: Route): Json[] {
  const { params, query } = route.schema;
  return [...parametersIn('path', params), ...parametersIn('query', query)];
}

function parametersIn(place: 'path' | 'query', schema: TSchema | undefined): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as { readonly description?: string };
    return {
      name: name === '*' ? restName : name,
      in: place,
      required: place === 'path' || (required.includes(name) && !('default' in property)),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function securitySchemes(contract: Contract): Json {
  return {
    bearer: { type: 'http', scheme: 'bearer', description: 'An access token or an API key' },
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    ...(contract.acceptsSessionCookie
      ? { session: { type: 'apiKey', in: 'cookie', name: 'session' } }
      : {}),
  };
}

/** What stands for the rest of a path, which routes call `*`. */
const restName = 'path';

function toTemplate(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, `{${restName}}`);
}

/** Collects the named schemas while the rest of the document refers to them. */
class Components {
  readonly schemas: Record<string, unknown> = {};

  refer(schema: TSchema): unknown {
    return this.#walk(schema);
  }

  #walk(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#walk(item));
    if (typeof node !== 'object' || node === null) return node;
    const { $id, ...rest } = node as Record<string, unknown>;
    const walk = () =>
      Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.#walk(value)]));
    if (typeof $id !== 'string') return walk();
    this.schemas[$id] ??= walk();
    return { $ref: `#/components/schemas/${$id}` };
  }
}
