import { Fault } from '../../../kit/errors.ts';
import { flawOf } from '../../files/paths.ts';

/** What file systems leave out of a name when they compare it (HFS+), so that it can hide `.git`. */
const ignorable = /[\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u3164\uffa0]/gu;
/** The repository's own folder, also by the short name that Windows gives it. */
const repository = /^(\.git|git~\d+)$/i;

/**
 * A path that a model gave, as one of the workspace. Fault `invalid` for what lies outside, for what is no
 * path there, and for the folder of git: what is written there runs at the next commit.
 */
export function workspacePath(given: string): string {
  const path = given.normalize('NFC').replace(/^(\.\/)+/, '');
  const flaw = flawOf(path);
  if (flaw !== undefined) {
    throw refusal(`“${shown(given)}” is no path of the workspace: ${flaw}.`);
  }
  const isGit = path.split('/').some((part) => repository.test(part.replaceAll(ignorable, '')));
  if (isGit) throw refusal(`“${shown(given)}” is git’s own and is left alone.`);
  return path;
}

function shown(given: string): string {
  return given.slice(0, 200);
}

function refusal(message: string): Fault {
  return new Fault('invalid', message, { reason: 'path_invalid' });
}
