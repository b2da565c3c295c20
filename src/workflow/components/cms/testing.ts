import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Value } from 'typebox/value';
import { Fault } from '../../../kit/errors.ts';
import type { ReadJson } from '../../../kit/http/testing.ts';
import type { Component, NodeContext, NodeDone } from '../component.ts';
import { createContext } from '../testing.ts';

/** Runs a component of a list alone, with settings that are checked as the engine does. */
export async function runComponent(
  components: readonly Component[],
  {
    name,
    data,
    context = {},
  }: {
    readonly name: string;
    readonly data: Readonly<Record<string, unknown>>;
    readonly context?: Partial<NodeContext>;
  },
) {
  const component = components.find((one) => one.name === name);
  if (!component) throw new Error(`there is no component ${name}`);
  const filled: unknown = Value.Default(component.input, structuredClone(data));
  if (!Value.Check(component.input, filled)) {
    throw new Fault('invalid', 'the settings do not fit', { reason: 'bad_setting' });
  }
  const done = await component.run(filled as typeof data, createContext(context));
  // What these components answer is never parked; a wrong expectation fails the test.
  const { output, ...rest } = done as NodeDone;
  // The schema of the output is a promise too.
  if (!Value.Check(component.output, output)) throw new Error(`${name} breaks its output's schema`);
  return { ...rest, output: output as ReadJson };
}

/** A request as a system saw it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: ReadJson;
}

/** `hang` never answers, `cut` ends the connection. */
export type Reply =
  | 'hang'
  | 'cut'
  | {
      readonly status?: number;
      readonly json?: unknown;
      readonly text?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** A server of JSON that a test scripts, with everything that it was asked. */
export async function startSystem(answer: (asked: Asked) => Reply | Promise<Reply>) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const one = await read(request);
      asked.push(one);
      send(response, await answer(one));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply === 'cut') response.destroy();
  if (reply === 'cut' || reply === 'hang') return;
  const { status = 200, headers = {}, json, text: body } = reply;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body ?? (json === undefined ? '' : JSON.stringify(json)));
}

async function read(request: IncomingMessage): Promise<Asked> {
  const body = await text(request);
  const url = new URL(request.url ?? '/', 'http://system.test');
  const { method = '', headers } = request;
  return {
    method,
    path: url.pathname,
    query: url.searchParams,
    headers,
    body: body === '' ? undefined : JSON.parse(body),
  };
}

interface StoredEntity {
  readonly type: string;
  readonly id: string;
  attributes: Record<string, unknown>;
  relationships: Record<string, unknown>;
}

const refusal = (status: number, detail: string, pointer?: string): Reply => ({
  status,
  json: {
    jsonapi: { version: '1.0' },
    errors: [
      { title: 'Refused', status: String(status), detail, ...(pointer && { source: { pointer } }) },
    ],
  },
});

/** A Drupal site as flows meet it: JSON:API, the node by its number, and the login. */
export class SmallDrupal {
  readonly entities: StoredEntity[] = [];
  readonly authorization: string;

  constructor(authorization: string) {
    this.authorization = authorization;
  }

  answer(asked: Asked): Reply {
    const { path, headers } = asked;
    if (path === '/user/login') return this.#login(asked);
    if (headers.authorization !== this.authorization) return refusal(403, 'No access.');
    const node = /^\/node\/(\d+)$/.exec(path)?.[1];
    if (node !== undefined) return this.#page(Number(node));
    const [, api, entityType = '', bundle = '', uuid] = path.split('/');
    const type = `${entityType}--${bundle}`;
    if (api !== 'jsonapi' || bundle === 'unknown') return refusal(404, 'No route.');
    if (asked.method === 'POST') return this.#create(type, asked);
    if (uuid === undefined) return this.#find(type, asked);
    return this.#one(asked, uuid);
  }

  #login({ body, query }: Asked): Reply {
    if (query.get('_format') !== 'json') return { status: 406, json: { message: 'No.' } };
    if (body.pass !== 'correct') {
      return { status: 400, json: { message: `Sorry, not ${body.pass}.` } };
    }
    const user = { uid: '7', name: body.name };
    return { json: { current_user: user, csrf_token: 'csrf-1', logout_token: 'out-1' } };
  }

  #page(nid: number): Reply {
    const found = this.entities.find(
      ({ attributes }) => attributes['drupal_internal__nid'] === nid,
    );
    if (!found) return { status: 404, json: { message: 'Not found.' } };
    return { json: { type: [{ target_id: found.type.split('--')[1] }] } };
  }

  #create(type: string, { body, headers }: Asked): Reply {
    const { data } = body;
    if (headers['content-type'] !== 'application/vnd.api+json') return refusal(415, 'No.');
    if (data.type !== type) return refusal(409, 'The type does not fit the address.');
    if (typeof data.attributes.title !== 'string') {
      return refusal(422, 'title: This value should not be null.', '/data/attributes/title');
    }
    if (this.entities.some(({ id }) => id === data.id)) {
      return refusal(409, 'Conflict: Entity already exists.');
    }
    const nid = this.entities.length + 11;
    const entity = {
      type,
      id: data.id,
      attributes: { ...data.attributes, drupal_internal__nid: nid, path: { alias: null } },
      relationships: data.relationships ?? {},
    };
    this.entities.push(entity);
    return { status: 201, json: { data: entity } };
  }

  #find(type: string, { query }: Asked): Reply {
    const nid = Number(query.get('filter[drupal_internal__nid]'));
    const found = this.entities.filter(
      (one) => one.type === type && one.attributes['drupal_internal__nid'] === nid,
    );
    return { json: { data: found } };
  }

  #one({ method, body }: Asked, uuid: string): Reply {
    const found = this.entities.find(({ id }) => id === uuid);
    if (!found) return refusal(404, 'The entity was not found.');
    if (method === 'PATCH') found.attributes = { ...found.attributes, ...body.data.attributes };
    return { json: { data: found } };
  }
}
