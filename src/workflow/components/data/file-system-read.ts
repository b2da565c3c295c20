import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import type { Component } from '../component.ts';
import { defineComponent } from '../schema.ts';
import { readFileBelow } from './files-root.ts';

const bytesDefault = 256 * 1024;
const bytesMax = 768 * 1024;

const input = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: 'below the files folder, with slashes',
    }),
    encoding: Type.Optional(Type.Enum(['utf8', 'base64'], { default: 'utf8' })),
    maxBytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: bytesMax,
        default: bytesDefault,
        description: 'a larger file fails',
      }),
    ),
  },
  { examples: [{ path: 'guidelines/{{ inputs.team }}.md' }] },
);

/** Reads a file below the root; without one every run fails with `not_configured`. */
export function createFileSystemRead(root: string | undefined): Component {
  return defineComponent({
    name: 'FileSystemRead',
    group: 'tools',
    title: 'Read a file',
    description:
      'Reads a file below the folder that the operator set with WORKFLOW_FILES_ROOT, and nothing else: no links out of it, no devices.',
    input,
    output: Type.Object({
      content: Type.String(),
      encoding: Type.String(),
      size: Type.Integer({ description: 'bytes' }),
      modifiedAt: Type.String({ format: 'date-time' }),
    }),
    effect: 'repeatable',
    typicalMs: 5,
    run: async ({ path, encoding = 'utf8', maxBytes = bytesDefault }) => {
      if (root === undefined) {
        const message = 'no folder for files is configured: set WORKFLOW_FILES_ROOT';
        throw new Fault('unimplemented', message, { reason: 'not_configured' });
      }
      const { bytes, modifiedAt } = await readFileBelow(root, path, maxBytes);
      const content = encoding === 'utf8' ? decodeText(bytes) : bytes.toString('base64');
      const output = {
        content,
        encoding,
        size: bytes.length,
        modifiedAt: modifiedAt.toISOString(),
      };
      return { kind: 'done', output };
    },
  });
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const message = 'the file is no UTF-8 text: read it with the encoding base64';
    throw new Fault('invalid', message, { reason: 'not_text', cause: error });
  }
}
