import { createHash } from 'node:crypto';
import { Fault } from '../../../kit/errors.ts';
import type { Secret } from '../../../kit/config.ts';
import {
  authorizationOf,
  OperatorCalls,
  refusalOf,
  type OperatorAnswer,
  type OperatorContext,
} from '../operator-calls.ts';
import { fieldsOf, wordsOf } from '../answer-fields.ts';
import { readResource, splitFields, type Entity } from './resource.ts';

export interface CmsOptions {
  /** `CMS_URL`; absent where there is none. */
  readonly url: string | undefined;
  /** A bearer token of an account that may do what flows shall do. */
  readonly token?: Secret | undefined;
  /** `<name>:<password>` of such an account, in place of a token. */
  readonly basicAuth?: Secret | undefined;
}

/** The bundle of an entity's type: `article` of `node`. */
export interface Kind {
  readonly entityType: string;
  readonly bundle: string;
}

/** Which entity: by its number, or by its UUID. */
export interface Place extends Partial<Kind> {
  readonly nid?: number | string | undefined;
  readonly uuid?: string | undefined;
}

export interface Login {
  readonly token: string;
  readonly user: { readonly uid: string; readonly name: string };
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly resource?: unknown;
}

const mediaType = 'application/vnd.api+json';

/**
 * A Drupal site, over JSON:API. Reasons: `cms_not_configured`, `entity_not_found`, `cms_conflict`,
 * `cms_rejected` (its own words, with the fields it names), `cms_unreachable`, `cms_failed`, …
 */
export class Drupal {
  readonly #options: CmsOptions;

  constructor(options: CmsOptions) {
    this.#options = options;
  }

  /**
   * Creates an entity under a UUID that follows from the key, so that what is asked for twice with
   * one key is created once.
   */
  async create(
    kind: Kind,
    { fields, key }: { readonly fields: Readonly<Record<string, unknown>>; readonly key: string },
    context: OperatorContext,
  ): Promise<Entity> {
    const path = pathOf(kind);
    const uuid = uuidOf(key);
    const data = { type: typeOf(kind), id: uuid, ...splitFields(fields) };
    const answer = await this.#ask({ method: 'POST', path, resource: { data } }, context);
    if (answer.status === 409) {
      const earlier = await this.#ask({ method: 'GET', path: `${path}/${uuid}` }, context);
      if (earlier.status < 300) return this.#readResource(earlier, kind);
    }
    // What is not there is the bundle, or all of JSON:API.
    return this.#readResource(answer, kind);
  }

  async load(place: Place, context: OperatorContext): Promise<Entity> {
    const kind = await this.#kindOf(place, context);
    const { uuid, nid } = place;
    if (uuid !== undefined) {
      const path = `${pathOf(kind)}/${encodeURIComponent(uuid)}`;
      return this.#readEntity(await this.#ask({ method: 'GET', path }, context), kind);
    }
    const filter = `filter[${numberField(kind)}]`;
    const query = new URLSearchParams({ [filter]: String(nid), 'page[limit]': '1' });
    const path = `${pathOf(kind)}?${query.toString()}`;
    const answer = await this.#ask({ method: 'GET', path }, context);
    return this.#readEntity(answer, kind);
  }

  async update(
    place: Place,
    fields: Readonly<Record<string, unknown>>,
    context: OperatorContext,
  ): Promise<Entity> {
    const kind = await this.#kindOf(place, context);
    const id = place.uuid ?? (await this.load({ ...place, ...kind }, context)).uuid;
    const data = { type: typeOf(kind), id, ...splitFields(fields) };
    const path = `${pathOf(kind)}/${encodeURIComponent(id)}`;
    const answer = await this.#ask({ method: 'PATCH', path, resource: { data } }, context);
    return this.#readEntity(answer, kind);
  }

  /** Logs a user in; `login_failed` for a wrong name or password. */
  async login(
    { username, password }: { readonly username: string; readonly password: string },
    context: OperatorContext,
  ): Promise<Login> {
    const answer = await this.#calls().send(
      {
        method: 'POST',
        path: '/user/login?_format=json',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ name: username, pass: password }),
      },
      context,
    );
    if (loginRefusals.has(answer.status)) {
      // Its own words may repeat what was typed.
      throw new Fault('forbidden', 'the CMS refuses this login', {
        reason: 'login_failed',
        detail: { status: answer.status },
      });
    }
    if (answer.status >= 300) throw refusalOf(answer, { name: 'cms', message: undefined });
    const { access_token, csrf_token, current_user } = fieldsOf(answer.json);
    const token = wordsOf(access_token) ?? wordsOf(csrf_token);
    if (token === undefined) throw failed('the CMS answered no token');
    const { uid = '', name } = fieldsOf(current_user);
    return { token, user: { uid: String(uid), name: wordsOf(name) ?? username } };
  }

  /** A node's bundle is found by its number where it is not told. */
  async #kindOf(
    { entityType = 'node', bundle, nid }: Place,
    context: OperatorContext,
  ): Promise<Kind> {
    if (bundle !== undefined) return { entityType, bundle };
    if (entityType !== 'node' || nid === undefined) throw bundleNeeded();
    const path = `/node/${encodeURIComponent(String(nid))}?_format=json`;
    const answer = await this.#ask({ method: 'GET', path }, context);
    if (answer.status === 404) throw notFound();
    // Where nodes are shown to nobody by this way, it refuses as if the request were wrong.
    if (answer.status >= 500 || answer.status === 429) throw refusal(answer);
    const { type } = fieldsOf(answer.json);
    const [first] = Array.isArray(type) ? (type as readonly unknown[]) : [];
    const found = wordsOf(fieldsOf(first)['target_id']);
    if (found === undefined) throw bundleNeeded();
    return { entityType, bundle: found };
  }

  #calls(): OperatorCalls {
    const { url } = this.#options;
    if (url !== undefined) return new OperatorCalls('cms', url);
    throw new Fault('unimplemented', 'no CMS is set up (CMS_URL)', {
      reason: 'cms_not_configured',
    });
  }

  #ask({ method, path, resource }: Question, context: OperatorContext): Promise<OperatorAnswer> {
    const headers = {
      ...authorizationOf(this.#options),
      accept: path.startsWith('/jsonapi/') ? mediaType : 'application/json',
      ...(resource === undefined ? {} : { 'content-type': mediaType }),
    };
    const body = resource === undefined ? undefined : JSON.stringify(resource);
    return this.#calls().send({ method, path, headers, body }, context);
  }

  #readEntity(answer: OperatorAnswer, kind: Kind): Entity {
    const { data } = fieldsOf(answer.json);
    const isNone = data === null || (Array.isArray(data) && data.length === 0);
    if (answer.status === 404 || (answer.status < 300 && isNone)) throw notFound();
    return this.#readResource(answer, kind);
  }

  #readResource(answer: OperatorAnswer, kind: Kind): Entity {
    if (answer.status >= 300) throw refusal(answer);
    const { data } = fieldsOf(answer.json);
    const resource = fieldsOf(Array.isArray(data) ? (data as readonly unknown[])[0] : data);
    if (typeof resource['id'] !== 'string') throw failed('the CMS answered no entity');
    return readResource(resource, { ...kind, baseUrl: this.#calls().baseUrl });
  }
}

/** How Drupal answers a wrong name or password, and too many of them. */
const loginRefusals: ReadonlySet<number> = new Set([400, 401, 403]);

function refusal(answer: OperatorAnswer): Fault {
  const { errors, message } = fieldsOf(answer.json);
  if (!Array.isArray(errors)) return refusalOf(answer, { name: 'cms', message: wordsOf(message) });
  const list = (errors as readonly unknown[]).slice(0, 20).map(fieldsOf);
  const words = list.flatMap(({ detail, title }) => wordsOf(detail) ?? wordsOf(title) ?? []);
  const fields = list.flatMap(({ source }) => wordsOf(fieldsOf(source)['pointer']) ?? []);
  const detail = fields.length > 0 ? { fields } : {};
  return refusalOf(answer, { name: 'cms', message: words.join(' '), detail });
}

function failed(message: string): Fault {
  return new Fault('upstream', message, { reason: 'cms_failed' });
}

function pathOf({ entityType, bundle }: Kind): string {
  return `/jsonapi/${encodeURIComponent(entityType)}/${encodeURIComponent(bundle)}`;
}

function typeOf({ entityType, bundle }: Kind): string {
  return `${entityType}--${bundle}`;
}

const numberFields: Readonly<Record<string, string>> = {
  node: 'nid',
  taxonomy_term: 'tid',
  user: 'uid',
  media: 'mid',
  file: 'fid',
  comment: 'cid',
};

function numberField({ entityType }: Kind): string {
  return `drupal_internal__${numberFields[entityType] ?? 'id'}`;
}

/** A UUID that follows from a text (RFC 9562, version 8). */
function uuidOf(key: string): string {
  const bytes = createHash('sha256').update(key).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function notFound(): Fault {
  return new Fault('not_found', 'the CMS has no such entity', { reason: 'entity_not_found' });
}

function bundleNeeded(): Fault {
  return new Fault('invalid', 'the CMS does not tell the bundle: name it', {
    reason: 'bundle_required',
  });
}
