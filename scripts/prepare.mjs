// Brings a clone to a state in which it runs: the right Node.js, the locked dependencies, a current build.
// Knows nothing but Node.js itself, because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(root, ...parts);
const stampPath = at('dist', '.stamp');
const unwritable = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC']);
const assetPattern = /\.(?:sql|bin|gguf|wasm)$/;

/** Installs and builds what is missing or stale; ends the process with one sentence if it cannot. */
export function prepare() {
  requireNode(20, 19);
  if (!areDependenciesCurrent()) install();
  if (isBuildCurrent()) return;
  try {
    build();
  } catch (error) {
    if (!unwritable.has(error?.code)) throw error;
    fail(`${root} cannot be written (${error.code}), and has to be built: do so as who owns it`);
  }
}

function requireNode(major, minor) {
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  fail(`Node.js ${major}.${minor} or newer is needed; this is ${process.versions.node}`);
}

/** True when every package that this platform needs is installed in the locked version. */
function areDependenciesCurrent() {
  const installedPath = at('node_modules', '.package-lock.json');
  if (!existsSync(installedPath)) return false;
  const locked = readJson(at('package-lock.json')).packages;
  const installed = readJson(installedPath).packages;
  return Object.entries(locked).every(([path, { version, optional, link }]) => {
    if (path === '' || optional || link) return true;
    return installed[path]?.version === version;
  });
}

function install() {
  say('installing the locked dependencies (the first time this takes a minute) …');
  run(
    ['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'],
    'npm ci failed: is the npm registry reachable?',
  );
}

function isBuildCurrent() {
  return existsSync(stampPath) && readFileSync(stampPath, 'utf8') === sourceStamp();
}

function build() {
  say('building …');
  rmSync(at('dist'), { recursive: true, force: true });
  const stamp = sourceStamp();
  const tsc = at('node_modules', 'typescript', 'bin', 'tsc');
  run([process.execPath, tsc, '-p', at('tsconfig.build.json')], 'the build failed');
  copyAssets(at('dist'));
  const vite = at('node_modules', 'vite', 'bin', 'vite.js');
  run(
    [process.execPath, vite, 'build', at('console'), '--logLevel', 'error'],
    'the build of the console failed',
    // Also where tests build: React for development is twice as large.
    { NODE_ENV: 'production' },
  );
  writeFileSync(stampPath, stamp);
}

/** Puts what the compiled services read beside them: migrations, models, vectors. */
export function copyAssets(folder) {
  for (const file of filesBelow(at('src')).filter((path) => assetPattern.test(path))) {
    const target = join(folder, relative(at('src'), file));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
}

/** Changes whenever a source file, the compiler's settings or the locked dependencies do. */
function sourceStamp() {
  const files = [
    ...filesBelow(at('src')),
    ...filesBelow(at('console')),
    at('tsconfig.json'),
    at('tsconfig.build.json'),
    at('package-lock.json'),
  ];
  const hash = createHash('sha256');
  for (const file of files.toSorted((a, b) => (a < b ? -1 : 1))) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(root, file)}:${size}:${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function run([command, ...args], sentence, variables = {}) {
  const isWindows = process.platform === 'win32';
  const { status } = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 2, 2],
    shell: isWindows,
  });
  if (status !== 0) fail(sentence);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function say(text) {
  process.stderr.write(`ennead: ${text}\n`);
}

function fail(sentence) {
  say(sentence);
  process.exit(1);
}
