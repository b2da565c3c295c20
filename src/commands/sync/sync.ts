import { Command, InvalidArgumentError } from 'commander';
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { Fault } from '../../kit/errors.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { printJson, printLine, printRemark } from '../output.ts';
import { Progress } from '../progress.ts';
import type { StudioAccess, StudioClient } from './studio-access.ts';
import type { SyncRun } from './sync-run.ts';

interface Options extends AdministrationOptions {
  readonly device?: string;
  readonly once?: boolean;
}

/** `ennead sync …` */
export function syncCommand(): Command {
  return new Command('sync')
    .description('keep a folder and a workspace of the studio in step, both ways')
    .argument('<workspace>', 'its id, or its name where only one has it')
    .argument('<folder>', 'a folder that exists; files named in its .enneadignore are left alone')
    .option(
      '--device <name>',
      'what this folder calls itself; host and folder when absent',
      parseDevice,
    )
    .option('--once', 'end when both are in step; exit code 1 if something is left out')
    .option('--json', 'print the answer as JSON, for programs')
    .option('--token <token>', 'access token or API key; ENNEAD_TOKEN keeps it off the screen')
    .option('--otp <code>', 'six digits of the authenticator app, or a recovery code')
    .addHelpText('after', '\nExample:\n  ennead sync wsp_0a1b2c ./project --once')
    .action(async (workspace: string, folder: string, options: Options) => {
      process.exitCode = await sync({ workspace, folder }, options);
    });
}

interface Asked {
  readonly workspace: string;
  readonly folder: string;
}

// What talks to the studio is loaded when it is needed, so that help comes at once.

async function sync(asked: Asked, options: Options): Promise<number> {
  const { openStudio } = await import('./studio-access.ts');
  await using access = await openStudio(options);
  const stopping = new Stopping(() => access.files.stop());
  try {
    return await keepInStep(access, asked, { ...options, stopping });
  } catch (error) {
    if (stopping.signal.aborted) return stopping.exitCode;
    throw access.explain(error);
  } finally {
    stopping.end();
  }
}

async function keepInStep(
  access: StudioAccess,
  asked: Asked,
  { stopping, ...options }: Options & { readonly stopping: Stopping },
): Promise<number> {
  const { SyncFolder } = await import('./sync-folder.ts');
  const { SyncIndex } = await import('./sync-index.ts');
  const { SyncRun: Run } = await import('./sync-run.ts');
  const { signal } = stopping;
  const folder = await SyncFolder.open(asked.folder);
  const workspaceId = await findWorkspace(access.client, asked.workspace);
  const index = await SyncIndex.open(folder.root, workspaceId);
  const deviceId = options.device ?? deviceOf(folder.root);
  const progress = new Progress();
  const { files } = access;
  const common = { folder, workspaceId, deviceId, signal };
  const run = new Run({ ...common, files, index, onProgress: progress.show });
  try {
    if (options.once) {
      const isInStep = await run.settleAll();
      return stopping.exitCode || (isInStep ? 0 : 1);
    }
    const { follow } = await import('./sync-follow.ts');
    const report = new Report(run, progress, options);
    await follow({ ...common, access, run, onSettled: report.settled, onBreak: report.broken });
    return stopping.exitCode;
  } finally {
    await index.save();
    progress.end();
    print(run, options);
  }
}

/** Ends at the first signal what has not begun; the second ends the process as usual. */
class Stopping {
  readonly #controller = new AbortController();
  readonly #onLate: () => void;
  #timer: NodeJS.Timeout | undefined;
  exitCode = 0;

  constructor(onLate: () => void) {
    this.#onLate = onLate;
    process.once('SIGINT', this.#stop);
    process.once('SIGTERM', this.#stop);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    process.off('SIGINT', this.#stop);
    process.off('SIGTERM', this.#stop);
  }

  readonly #stop = (name: NodeJS.Signals): void => {
    this.exitCode = name === 'SIGINT' ? 130 : 143;
    this.#controller.abort();
    // What is under way may end, unless it takes long.
    this.#timer = setTimeout(this.#onLate, lateMs);
  };
}

const lateMs = 3_000;

/** Says once when both sides are in step, and again after something was done. */
class Report {
  readonly #run: SyncRun;
  readonly #progress: Progress;
  readonly #options: Options;
  #told = '';

  constructor(run: SyncRun, progress: Progress, options: Options) {
    this.#run = run;
    this.#progress = progress;
    this.#options = options;
  }

  readonly settled = (): void => {
    const text = summaryOf(this.#run);
    this.#progress.show('in step; watching');
    if (text === this.#told || this.#options.json) return;
    this.#told = text;
    printRemark(text);
  };

  readonly broken = (reason: string): void => {
    printRemark(`${reason}; trying again`);
  };
}

function print(run: SyncRun, options: Options): void {
  const leftOut = [...run.leftOut].map(([path, reason]) => ({ path, reason }));
  const isInStep = run.isSettled && leftOut.length === 0;
  if (options.json) return printJson({ ...run.counts, leftOut, isInStep });
  for (const { path, reason } of leftOut.slice(0, leftOutShown)) {
    printRemark(`left out: ${path}: ${reason}`);
  }
  if (leftOut.length > leftOutShown) printRemark(`… and ${leftOut.length - leftOutShown} more`);
  return printLine(summaryOf(run));
}

const leftOutShown = 20;

/** Only who has compared both sides to the end says that they are in step. */
function summaryOf({ counts, leftOut, isSettled }: SyncRun): string {
  const { sent, received, deletedHere, deletedThere, conflicts } = counts;
  const deleted = `deleted ${deletedHere} here and ${deletedThere} there`;
  const text = `sent ${sent}, received ${received}, ${deleted}, ${conflicts} in conflict`;
  if (leftOut.size > 0) return `${text}; ${leftOut.size} left out`;
  return isSettled ? `${text}; in step` : `${text}; not in step yet`;
}

async function findWorkspace(client: StudioClient, text: string): Promise<string> {
  if (/^wsp_[0-9a-f]+$/.test(text)) {
    const { id } = await client.readWorkspace({ params: { id: text } });
    return id;
  }
  const { workspaces } = await client.listWorkspaces({ query: { limit: 100, offset: 0 } });
  const [found, ...others] = workspaces.filter(({ name }) => name === text);
  if (!found) throw new Fault('not_found', `there is no workspace ${text} among your newest 100`);
  if (others.length === 0) return found.id;
  throw new Fault('conflict', `several workspaces are called ${text}: say which by its id`);
}

/** Two folders of one machine are two devices. */
function deviceOf(root: string): string {
  const host =
    hostname()
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .slice(0, 48) || 'device';
  return `${host}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;
}

function parseDevice(text: string): string {
  if (/^[A-Za-z0-9._:-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 64 letters, digits or . _ : -');
}
