import { fieldsOf, isFields, listOf, numberOf, present, textOf, type Fields } from '../fields.ts';
import { literalText, placeholderText } from '../paths.ts';
import { dataIn, type Mapped, type N8nKind, type N8nReading, type PlaceGiven } from './kind.ts';

const http: N8nKind = {
  map: (reading) => {
    const { node } = reading;
    const { parameters } = node;
    const body = bodyOf(reading);
    const headers = { ...pairsOf(reading, 'headerParameters'), ...body.headers };
    const method = textOf(parameters['method'] ?? parameters['requestMethod']) || 'GET';
    const data = present({
      method: method.toUpperCase(),
      url: reading.readText('url') ?? '',
      query: orAbsent(pairsOf(reading, 'queryParameters')),
      headers: orAbsent(headers),
      body: body.body,
    });
    const timeout = numberOf(fieldsOf(parameters['options'])['timeout']);
    const asks = textOf(parameters['authentication']);
    const isSecured = node.hasCredentials || (asks !== '' && asks !== 'none');
    return {
      node: { type: 'HttpRequest', data, ...(timeout ? { timeout: Math.round(timeout) } : {}) },
      status: isSecured ? 'adapted' : 'exact',
      ...(isSecured
        ? { note: 'its credentials were not in the file: add the header yourself' }
        : {}),
    };
  },
  place: ({ node, id }: PlaceGiven) => {
    const response = fieldsOf(fieldsOf(node.parameters['options'])['response']);
    const isFull = fieldsOf(response['response'])['fullResponse'] === true;
    const aliases = [{ from: ['statusCode'], to: ['status'] }];
    return isFull ? { root: id, steps: [], aliases } : { root: id, steps: ['body'] };
  },
};

interface Body {
  readonly body?: unknown;
  readonly headers?: Fields;
}

function bodyOf(reading: N8nReading): Body {
  const { parameters } = reading.node;
  const json = parameters['jsonBody'] ?? parameters['bodyParametersJson'];
  if (parameters['specifyBody'] === 'json' || textOf(json) !== '') return jsonBody(json, reading);
  if (parameters['contentType'] === 'raw') {
    const type = textOf(parameters['rawContentType']) || 'text/plain';
    return { body: reading.readText('body') ?? '', headers: { 'content-type': type } };
  }
  const pairs = orAbsent(pairsOf(reading, 'bodyParameters'));
  return pairs && parameters['sendBody'] !== false ? { body: pairs } : {};
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

function pairsOf(reading: N8nReading, name: string): Fields {
  const given = fieldsOf(reading.read(name));
  const pairs = listOf(given['parameters'] ?? given['parameter']).filter(isFields);
  return Object.fromEntries(pairs.map((one) => [textOf(one['name']), one['value'] ?? '']));
}

function orAbsent(fields: Fields): Fields | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined;
}

const set: N8nKind = {
  map: (reading) => {
    const { node, sight } = reading;
    const { parameters } = node;
    const fields = parameters['mode'] === 'raw' ? rawFields(reading) : assigned(reading);
    if (fields === undefined) {
      return { status: 'unsupported', note: 'its JSON has expressions: write a Transform' };
    }
    const others = parameters['includeOtherFields'] === true || isOldKeepingAll(reading);
    if (!others) return { node: { type: 'Transform', data: { input: fields, expression: '$' } } };
    const input = { before: placeholderText(sight.own()), set: fields };
    const data = { input, expression: '$merge([before, set])' };
    return { node: { type: 'Transform', data } };
  },
  place: dataIn('result'),
};

/** Before version 3 the other fields stay unless it says otherwise. */
function isOldKeepingAll({ node }: N8nReading): boolean {
  const { includeOtherFields, keepOnlySet, values } = node.parameters;
  return node.version < 3 && includeOtherFields === undefined && isFields(values) && !keepOnlySet;
}

function rawFields({ node }: N8nReading): unknown {
  const text = textOf(node.parameters['jsonOutput']);
  return text.startsWith('=') ? parseJson(text.slice(1)) : parseJson(text);
}

function assigned(reading: N8nReading): Fields {
  const given = fieldsOf(reading.read('assignments'))['assignments'];
  const fields = fieldsOf(reading.read('fields'))['values'];
  const old = Object.entries(fieldsOf(reading.read('values'))).flatMap(([type, list]) =>
    listOf(list).map((one) => ({ ...fieldsOf(one), type })),
  );
  const result: Record<string, unknown> = {};
  for (const one of [...listOf(given), ...listOf(fields), ...old].map(fieldsOf)) {
    const type = textOf(one['type']).replace(/Value$/, '');
    const value = one['value'] ?? one[`${type}Value`] ?? one['stringValue'] ?? '';
    assign(result, textOf(one['name']).split('.'), typed(value, type));
  }
  return result;
}

function typed(value: unknown, type: string): unknown {
  if (typeof value !== 'string' || value.includes('{{')) return value;
  if (type === 'number') return numberOf(value) ?? value;
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return type === 'array' || type === 'object' ? (parseJson(value) ?? value) : value;
}

/** `a.b` sets a field within a field. */
function assign(fields: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown) {
  if (rest.length === 0) {
    fields[name] = value;
    return;
  }
  const inner = { ...fieldsOf(Object.hasOwn(fields, name) ? fields[name] : undefined) };
  assign(inner, rest, value);
  fields[name] = inner;
}

function parseJson(text: string): unknown {
  try {
    return withLiteralTexts(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function withLiteralTexts(value: unknown): unknown {
  if (typeof value === 'string') return literalText(value);
  if (Array.isArray(value)) return value.map(withLiteralTexts);
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, withLiteralTexts(v)]));
}

const respond: N8nKind = {
  map: (reading) => {
    const { parameters } = reading.node;
    const way = textOf(parameters['respondWith']) || 'firstIncomingItem';
    const isText = way === 'text' || way === 'json';
    const answer = isText ? reading.read('responseBody') : placeholderText(reading.sight.own());
    const data = { input: { answer }, expression: 'answer' };
    const note = 'a webhook answers at once; the answer is part of the execution’s result';
    return { node: { type: 'Transform', data }, status: 'adapted', note };
  },
  place: dataIn('result'),
};

const readFile: N8nKind = {
  map: (reading): Mapped => {
    const { operation } = reading.node.parameters;
    if (operation === 'write') return { status: 'unsupported', note: 'files are only read here' };
    const path = reading.readText('fileSelector') ?? reading.readText('filePath') ?? '';
    const note = 'the path counts from the folder that WORKFLOW_FILES_ROOT names';
    const data = { path: path.replace(/^\/+/, '') };
    return { node: { type: 'FileSystemRead', data }, status: 'adapted', note };
  },
};

/** A Transform over the list that comes in. */
function listWork(write: (reading: N8nReading) => string | undefined): N8nKind {
  return {
    map: (reading) => {
      const expression = write(reading);
      if (expression === undefined) {
        return { status: 'unsupported', note: 'write a Transform in its place' };
      }
      const data = { input: placeholderText(reading.sight.own()), expression };
      return { node: { type: 'Transform', data }, status: 'adapted' };
    },
    place: dataIn('result'),
  };
}

const fieldPath = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

const limit = listWork(({ node }) => {
  const count = Math.max(0, Math.trunc(numberOf(node.parameters['maxItems']) ?? 1));
  const isLast = node.parameters['keep'] === 'lastItems';
  return isLast ? `[$[[-${count}..-1]]]` : `[$[[0..${count - 1}]]]`;
});

const splitOut = listWork(({ node }) => {
  const field = textOf(node.parameters['fieldToSplitOut']);
  return fieldPath.test(field) ? `[${field}]` : undefined;
});

/** What calls, sets and reads. */
export const dataKinds: Readonly<Record<string, N8nKind>> = {
  httpRequest: http,
  set,
  editFields: set,
  respondToWebhook: respond,
  readWriteFile: readFile,
  readBinaryFile: readFile,
  readBinaryFiles: readFile,
  limit,
  splitOut,
  itemLists: splitOut,
};
