// The command `ennead` on a clone: prepares it, then runs the built program in this same process, so
// that signals reach it.
import { constants } from 'node:os';
import { prepare } from './prepare.mjs';

// Until the suite listens for signals itself there is nothing to close, and a stop is what was asked
// for. A command that is interrupted has not done its work, and says so as shells do.
const isSuite = ['up', 'run'].includes(process.argv[2] ?? '');
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => process.exit(isSuite ? 0 : 128 + constants.signals[signal]));
}

prepare();
process.setSourceMapsEnabled(true);
await import('../dist/main.js');
