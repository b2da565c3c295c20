// `npm run gen`: writes what is derived from the code into `gen/`. With `--check` it only says what is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from '../src/generated.ts';

const isCheck = process.argv.includes('--check');
const root = new URL('../', import.meta.url);
let staleCount = 0;

for (const [name, text] of Object.entries(generatedFiles())) {
  const path = fileURLToPath(new URL(name, root));
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  staleCount += 1;
  console.log(`${isCheck ? 'stale' : 'written'}: ${name}`);
  if (isCheck) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

if (isCheck && staleCount > 0) {
  console.log('run `npm run gen` and commit what it writes');
  process.exit(1);
}
