// The command `ennead` on a clone: prepares it, then runs the built program in this same process, so
// that signals reach it.
import { prepare } from './prepare.mjs';

// Until the program listens for signals itself, there is nothing to close.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));

prepare();
process.setSourceMapsEnabled(true);
await import('../dist/main.js');
