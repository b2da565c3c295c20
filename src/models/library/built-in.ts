import { fileURLToPath } from 'node:url';

/** The folder of the models that come with Ennead, beside the code also once it is built. */
export const builtInFolder = fileURLToPath(new URL('../builtin', import.meta.url));
