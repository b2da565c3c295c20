import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { Upload, Uploads } from './uploads.ts';

const tones: Readonly<Record<Upload['state'], Tone>> = {
  waiting: 'neutral',
  running: 'busy',
  done: 'good',
  taken: 'warning',
  failed: 'bad',
};

/** What becomes of uploads; nothing while there are none. */
export function UploadList({ uploads }: { readonly uploads: Uploads }): ReactNode {
  if (uploads.list.length === 0) return null;
  return (
    <section className="card stack" aria-label="Uploads">
      <div className="row">
        <h2>Uploads</h2>
        <button type="button" className="quiet" onClick={uploads.clear}>
          Clear
        </button>
      </div>
      <ul className="plain-list">
        {uploads.list.map((upload) => (
          <li key={upload.path}>
            <div className="row">
              <Badge state={upload.state} tone={tones[upload.state]} />
              <span className="mono wrap">{upload.path}</span>
            </div>
            {upload.state === 'taken' ? (
              <div className="row">
                <span className="faint">There is such a file already.</span>
                <button type="button" onClick={() => void uploads.replace(upload)}>
                  Replace it
                </button>
              </div>
            ) : null}
            {upload.error ? <Problem error={upload.error} /> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}
