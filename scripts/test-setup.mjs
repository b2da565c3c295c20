// What vitest does before any test and after the last.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from './prepare.mjs';

/** Prepares the clone, and gives the tests a folder for temporary files that goes with them. */
export function setup() {
  prepare();
  const folder = mkdtempSync(join(tmpdir(), 'ennead-tests-'));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
