import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Connection, Directory } from '../connections/connection.ts';
import type { Candidate } from './candidate.ts';
import type { ImportFormat } from './import-documents.ts';
import type { NewConnection, Registrar } from './registrar.ts';
import { toSafeName } from './safe-name.ts';

export interface ImportResult {
  readonly format: ImportFormat;
  readonly imported: ImportedEntry[];
  readonly skipped: SkippedEntry[];
  readonly errors: { readonly name: string; readonly code: string; readonly message: string }[];
  readonly dryRun: boolean;
}

interface ImportedEntry {
  readonly name: string;
  /** Absent in a dry run. */
  readonly id?: string;
  readonly protocol: string;
  readonly needs: string[];
  readonly unknown?: string[];
}

interface SkippedEntry {
  readonly name: string;
  readonly reason: string;
  readonly needs?: string[];
  readonly unknown?: string[];
}

export interface ImportOptions {
  readonly format: ImportFormat;
  readonly identity: Identity;
  readonly isDryRun: boolean;
  readonly prefix: string;
}

export interface ImporterParts {
  readonly directory: Pick<Directory, 'findByName'>;
  readonly registrar: Pick<Registrar, 'register' | 'check'>;
}

/** How many are registered at a time: registrations are written in batches. */
const atOnce = 50;

/** Registers what a document lists; one that fails keeps none of the others back. */
export async function importCandidates(
  { directory, registrar }: ImporterParts,
  candidates: readonly Candidate[],
  { format, identity, isDryRun, prefix }: ImportOptions,
): Promise<ImportResult> {
  const result: ImportResult = { format, imported: [], skipped: [], errors: [], dryRun: isDryRun };
  const taken = new Set<string>();

  const take = async (candidate: Candidate): Promise<void> => {
    if ('skipped' in candidate) {
      const { name, skipped: reason, needs, unknown } = candidate;
      result.skipped.push({
        name: prefix + name,
        reason,
        ...(needs ? { needs: [...needs] } : {}),
        ...(unknown ? { unknown: [...unknown] } : {}),
      });
      return;
    }
    const input = withPrefix(candidate.input, prefix);
    const { name, protocol } = input;
    const reason = refusalOf(input, directory.findByName(name), taken);
    if (reason) return void result.skipped.push({ name, reason });
    taken.add(name);
    const id = isDryRun ? undefined : (await registrar.register(input, identity)).id;
    if (isDryRun) await registrar.check(input, identity);
    result.imported.push({
      name,
      ...(id === undefined ? {} : { id }),
      protocol,
      needs: [...candidate.needs],
      ...(candidate.unknown ? { unknown: [...candidate.unknown] } : {}),
    });
  };

  for (let start = 0; start < candidates.length; start += atOnce) {
    const chunk = candidates.slice(start, start + atOnce);
    const settled = await Promise.allSettled(chunk.map(take));
    settled.forEach((one, index) => {
      if (one.status === 'fulfilled') return;
      const candidate = chunk[index];
      const name = candidate && 'input' in candidate ? candidate.input.name : '';
      noteFailure(result, prefix + name, Fault.from(one.reason));
    });
  }
  return result;
}

function withPrefix(input: NewConnection, prefix: string): NewConnection {
  if (prefix === '') return input;
  return { ...input, name: toSafeName(prefix + input.name) ?? input.name };
}

/** Someone else may have taken the name meanwhile; that is no error either. */
function noteFailure(result: ImportResult, name: string, fault: Fault): void {
  if (fault.reason === 'name_taken') result.skipped.push({ name, reason: 'name_taken' });
  else if (fault.code === 'internal') throw fault;
  else result.errors.push({ name, code: fault.reason ?? fault.code, message: fault.message });
}

function refusalOf(
  input: NewConnection,
  existing: Connection | undefined,
  taken: ReadonlySet<string>,
): string | undefined {
  if (taken.has(input.name)) return 'name_taken';
  if (!existing) return undefined;
  return isAlike(input, existing) ? 'already_registered' : 'name_taken';
}

/** Whether it is the same server, whatever secrets either has. */
function isAlike({ protocol, endpoint }: NewConnection, existing: Connection): boolean {
  if (protocol !== existing.protocol) return false;
  if (!endpoint) return !hasTarget(existing.endpoint);
  return isDeepStrictEqual(targetOf(endpoint), targetOf(existing.endpoint));
}

function hasTarget(endpoint: Connection['endpoint']): boolean {
  return Object.values(targetOf(endpoint)).some((part) => part !== undefined && part !== '');
}

function targetOf(endpoint: Connection['endpoint']) {
  if ('command' in endpoint) return { command: endpoint.command, args: [...endpoint.args] };
  return { url: URL.canParse(endpoint.url) ? new URL(endpoint.url).href : endpoint.url };
}
