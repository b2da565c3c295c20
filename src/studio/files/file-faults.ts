import { Fault } from '../../kit/errors.ts';

/** Fault `not_found` of content that a workspace does not have. */
export function contentMissing(hash: string): Fault {
  return new Fault('not_found', 'the workspace has no such content', {
    reason: 'content_missing',
    detail: { hash },
  });
}

/** Fault `not_found` of a path that holds nothing. */
export function fileNotFound(path: string): Fault {
  return new Fault('not_found', 'there is no such file', {
    reason: 'file_not_found',
    detail: { path },
  });
}

/** Fault `not_found` of what a path never held, or held too long ago. */
export function versionNotFound(path: string): Fault {
  return new Fault('not_found', 'there is no such version of the file', {
    reason: 'version_not_found',
    detail: { path },
  });
}

/** Fault `too_large` of what goes beyond a workspace's room. */
export function quotaExceeded(quotaBytes: number): Fault {
  return new Fault('too_large', `the files of this workspace may take ${quotaBytes} bytes`, {
    reason: 'quota_exceeded',
    detail: { quotaBytes },
  });
}
