import { useState } from 'react';
import { isChangedSince, readIfThere, writeContent, type Condition } from './file-calls.ts';

export interface NewUpload {
  readonly path: string;
  readonly file: File;
}

/** A file on its way into the workspace. `taken`: something is at its path, and was left as it is. */
export interface Upload extends NewUpload {
  readonly state: 'waiting' | 'running' | 'done' | 'taken' | 'failed';
  readonly error?: Error;
}

export interface Uploads {
  readonly list: readonly Upload[];
  readonly add: (added: readonly NewUpload[]) => Promise<void>;
  /** Writes over what is there by now. */
  readonly replace: (upload: Upload) => Promise<void>;
  /** Takes those that are over off the list. */
  readonly clear: () => void;
}

/** The files that this page uploads, one after the other. */
export function useUploads(workspaceId: string): Uploads {
  const [list, setList] = useState<readonly Upload[]>([]);
  const note = (path: string, state: Partial<Upload>) =>
    setList((all) => all.map((one) => (one.path === path ? { ...one, ...state } : one)));
  const send = async ({ path, file }: NewUpload, condition: Condition) => {
    note(path, { state: 'running' });
    try {
      await writeContent({ workspaceId, path }, file, condition);
      note(path, { state: 'done' });
    } catch (error) {
      if (isChangedSince(error)) note(path, { state: 'taken' });
      else note(path, { state: 'failed', error: error as Error });
    }
  };
  return {
    list,
    add: async (added) => {
      const isNew = ({ path }: Upload) => !added.some((one) => one.path === path);
      const waiting = added.map((one): Upload => ({ ...one, state: 'waiting' }));
      setList((all) => [...all.filter(isNew), ...waiting]);
      for (const one of added) await send(one, 'free');
    },
    replace: async (upload) => {
      const there = await readIfThere({ workspaceId, path: upload.path });
      await send(upload, there ? { hash: there.hash } : 'free');
    },
    clear: () =>
      setList((all) => all.filter(({ state }) => state === 'waiting' || state === 'running')),
  };
}
