import { numberOf, textOf } from '../fields.ts';
import { placeholderText } from '../paths.ts';
import { http } from './http-kind.ts';
import { dataIn, type Mapped, type N8nKind, type N8nReading } from './kind.ts';
import { set } from './set-kind.ts';

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
function listWork(note: string, write: (reading: N8nReading) => string | undefined): N8nKind {
  return {
    map: (reading) => {
      const expression = write(reading);
      if (expression === undefined) {
        return { status: 'unsupported', note: 'write a Transform in its place' };
      }
      const data = { input: placeholderText(reading.sight.own()), expression };
      return { node: { type: 'Transform', data }, status: 'adapted', note };
    },
    place: dataIn('result'),
  };
}

const fieldPath = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

const limit = listWork('it takes of the list that the step before gives', ({ node }) => {
  const count = Math.max(0, Math.trunc(numberOf(node.parameters['maxItems']) ?? 1));
  const isLast = node.parameters['keep'] === 'lastItems';
  return isLast ? `[$[[-${count}..-1]]]` : `[$[[0..${count - 1}]]]`;
});

const splitOut = listWork('its items are one list here', ({ node }) => {
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
