import { fieldsOf, isFields, listOf, numberOf, present, textOf, type Fields } from '../fields.ts';
import { notTranslatable } from '../translation.ts';
import { translateForm } from './expressions.ts';
import { parseJson } from './json-texts.ts';
import type { Mapped, N8nKind, N8nReading, PlaceGiven } from './kind.ts';

/** HTTP Request. */
export const http: N8nKind = {
  map: (reading): Mapped => {
    const { node } = reading;
    const { parameters } = node;
    const method = (
      textOf(parameters['method'] ?? parameters['requestMethod']) || 'GET'
    ).toUpperCase();
    const body = isOn(reading, 'sendBody') ? bodyOf(reading) : {};
    if (body === undefined) {
      return {
        status: 'unsupported',
        note: 'a body of several parts or of a file is not sent here',
      };
    }
    const headers = withType(pairsOf(reading, 'header'), body);
    const data = present({
      method,
      url: reading.readText('url') ?? '',
      query: orAbsent(pairsOf(reading, 'query')),
      headers: orAbsent(headers),
      body: body.body,
      ...answerSettings(reading, method),
    });
    const timeout = numberOf(fieldsOf(parameters['options'])['timeout']);
    const notes = differencesOf(reading, method, body);
    return {
      node: { type: 'HttpRequest', data, ...(timeout ? { timeout: Math.round(timeout) } : {}) },
      ...(notes.length > 0 ? { status: 'adapted', note: notes.join('; ') } : {}),
    };
  },
  place: ({ node, id }: PlaceGiven) => {
    const isFull = responseOf(node.parameters)['fullResponse'] === true;
    const aliases = [{ from: ['statusCode'], to: ['status'] }];
    return isFull ? { root: id, steps: [], aliases } : { root: id, steps: ['body'] };
  },
};

function responseOf(parameters: Fields): Fields {
  return fieldsOf(fieldsOf(fieldsOf(parameters['options'])['response'])['response']);
}

/** From version 3 on parts are sent only when that is said. */
function isOn({ node }: N8nReading, name: string): boolean {
  const given = node.parameters[name];
  return node.version < 3 ? given !== false : given === true;
}

/** What is not quite the same, in words. */
function differencesOf(reading: N8nReading, method: string, body: Body): readonly string[] {
  const { node } = reading;
  const asks = textOf(node.parameters['authentication']);
  const isSecured = node.hasCredentials || (asks !== '' && asks !== 'none');
  const { fullResponse, neverError, responseFormat } = responseOf(node.parameters);
  const { pagination, batching, queryParameterArrays, proxy } = fieldsOf(
    node.parameters['options'],
  );
  const isAsk = method === 'GET' || method === 'HEAD';
  const said: readonly (readonly [unknown, string])[] = [
    [isSecured, 'its credentials were not in the file: add the header yourself'],
    [node.version < 3, 'it is of an older kind: compare its settings'],
    [isAsk && body.body !== undefined, `a ${method} has no body here`],
    [
      body.isFormOfValues,
      'a form has a list or an object as one text, and what is not there as an empty one',
    ],
    [neverError === true, 'statuses that no standard names are failures all the same'],
    [fullResponse === true, 'the answer as a whole has the names status, headers and body'],
    [
      responseFormat === 'file' || responseFormat === 'text',
      'the answer is JSON or a text, as it says itself',
    ],
    [pagination !== undefined, 'it asks once, without further pages'],
    [queryParameterArrays !== undefined, 'a list in the query repeats its name'],
    [batching !== undefined, 'it does not wait between requests'],
    [proxy !== undefined, 'it goes through no proxy'],
  ];
  return said.flatMap(([isSo, note]) => (isSo === true ? [note] : []));
}

/** What becomes of redirects and of statuses other than 2xx. */
function answerSettings({ node }: N8nReading, method: string): Fields {
  const { redirect, followRedirect } = fieldsOf(node.parameters['options']);
  const given = fieldsOf(fieldsOf(redirect)['redirect'])['followRedirects'];
  const follows: Readonly<Record<number, boolean>> = {
    1: followRedirect !== false,
    2: followRedirect !== false,
    3: given === true || method !== 'GET',
  };
  const isFollowed = follows[Math.trunc(node.version)] ?? given !== false;
  return present({
    followRedirects: isFollowed ? undefined : false,
    acceptStatus: responseOf(node.parameters)['neverError'] === true ? knownStatuses : undefined,
  });
}

/** Statuses beside 2xx that standards and common servers name. */
const knownStatuses = [
  ...numbers(300, 308),
  ...numbers(400, 431),
  440,
  444,
  ...numbers(449, 451),
  ...numbers(494, 499),
  ...numbers(500, 511),
  ...numbers(520, 530),
];

function numbers(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

interface Body {
  readonly body?: unknown;
  readonly headers?: Fields;
  /** A form with values that are known only when it is sent. */
  readonly isFormOfValues?: boolean;
}

/** Undefined for what cannot be sent. */
// A way to write it for each kind of content.
// oxlint-disable-next-line complexity
function bodyOf(reading: N8nReading): Body | undefined {
  const { parameters } = reading.node;
  const { bodyContentType } = fieldsOf(parameters['options']);
  const contentType = textOf(parameters['contentType'] ?? bodyContentType) || 'json';
  if (contentType === 'multipart-form-data' || contentType === 'binaryData') return undefined;
  if (contentType === 'form-urlencoded') return formBody(reading);
  if (contentType === 'raw') {
    const type = textOf(parameters['rawContentType']) || 'text/plain';
    return { body: reading.readText('body') ?? '', headers: { 'content-type': type } };
  }
  const json = parameters['jsonBody'] ?? parameters['bodyParametersJson'];
  if (parameters['specifyBody'] === 'json' || textOf(json) !== '') return jsonBody(json, reading);
  const pairs = orAbsent(pairsOf(reading, 'body'));
  return pairs ? { body: pairs } : {};
}

/** A type that the headers name is the body's, as in n8n. */
function withType(headers: Fields, body: Body): Fields {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  return isNamed ? headers : { ...headers, ...body.headers };
}

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

function formBody(reading: N8nReading): Body {
  const { node, sight } = reading;
  if (node.parameters['specifyBody'] === 'string') {
    return { body: reading.readText('body') ?? '', headers: formHeaders };
  }
  const pairs = listedPairs(node.parameters, 'body').map(
    ({ name, value }) => [translateForm(name, sight), translateForm(value ?? '', sight)] as const,
  );
  // Of two of one name the last one counts.
  const fields = [...new Map(pairs)].map(([name, value]) => `${name}=${value}`);
  const body = fields.join('&');
  return { body, headers: formHeaders, isFormOfValues: body.includes('{{') };
}

/** A fixed text is read; one with expressions stays a text that is JSON once it is filled in. */
function jsonBody(json: unknown, reading: N8nReading): Body {
  if (isFields(json)) return { body: reading.read('jsonBody') };
  const text = textOf(json);
  if (!text.startsWith('=')) {
    const value = parseJson(text);
    if (value !== undefined) return { body: value };
  }
  const name =
    reading.node.parameters['jsonBody'] === undefined ? 'bodyParametersJson' : 'jsonBody';
  const headers = { 'content-type': 'application/json' };
  return { body: reading.readText(name) ?? '', headers };
}

type Part = 'header' | 'query' | 'body';

const parts = {
  header: { send: 'sendHeaders', specify: 'specifyHeaders', json: 'jsonHeaders' },
  query: { send: 'sendQuery', specify: 'specifyQuery', json: 'jsonQuery' },
  body: { send: 'sendBody', specify: 'specifyBody', json: 'jsonBody' },
} as const;

function pairsOf(reading: N8nReading, part: Part): Fields {
  const { parameters } = reading.node;
  const { send, specify, json } = parts[part];
  if (!isOn(reading, send)) return {};
  if (parameters[specify] === 'json' && part !== 'body') return fixedPairs(parameters[json]);
  const given = Object.fromEntries(namesOf(part).map((name) => [name, reading.read(name)]));
  return Object.fromEntries(
    listedPairs(given, part).map(({ name, value }) => [textOf(name), value ?? '']),
  );
}

function listedPairs(parameters: Fields, part: Part): readonly Fields[] {
  return namesOf(part).flatMap((name) => {
    const given = fieldsOf(parameters[name]);
    return listOf(given['parameters'] ?? given['parameter']).filter(isFields);
  });
}

/** Before version 3 their name has an ending. */
function namesOf(part: Part): readonly string[] {
  return [`${part}Parameters`, `${part}ParametersUi`];
}

/** Names and values that are one text of JSON. */
function fixedPairs(given: unknown): Fields {
  const value = isFields(given) ? given : parseJson(textOf(given).replace(/^=/, ''));
  if (!isFields(value) || textOf(given).includes('{{')) {
    throw notTranslatable('headers and query as JSON are taken over only where they are fixed');
  }
  return value;
}

function orAbsent(fields: Fields): Fields | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined;
}
