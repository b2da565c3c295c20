// The command `ennead` on a clone: prepares it, then runs the built program in this same process, so
// that signals reach it.
import { prepare } from './prepare.mjs';

prepare();
process.setSourceMapsEnabled(true);
await import('../dist/main.js');
