import type { Egress } from '../../../kit/egress/egress.ts';
import type { Component } from '../component.ts';
import { createFileSystemRead } from './file-system-read.ts';
import { createHttpRequest } from './http-request.ts';
import { createTransform } from './transform.ts';
import type { Transformer } from './transformer.ts';

export interface DataDependencies {
  readonly egress: Pick<Egress, 'fetch'>;
  readonly transformer: Pick<Transformer, 'evaluate'>;
  /** The folder below which files may be read; undefined where none may. */
  readonly filesRoot: string | undefined;
}

/** What fetches, reads and reshapes data. */
export function dataComponents(dependencies: DataDependencies): readonly Component[] {
  const { egress, transformer, filesRoot } = dependencies;
  return [createTransform(transformer), createHttpRequest(egress), createFileSystemRead(filesRoot)];
}
