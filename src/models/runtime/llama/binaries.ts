import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The shared libraries of llama.cpp that node-llama-cpp brings along for this platform. */
export interface Binaries {
  /** Of all of them; that of the processor is chosen among those in it. */
  readonly folder: string;
  /** The release of llama.cpp that they were built of. */
  readonly release: string;
  readonly ggmlBase: string;
  readonly ggml: string;
  readonly llama: string;
}

const packages: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'mac-x64',
  'darwin-arm64': 'mac-arm64-metal',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
};

/** Throws where llama.cpp is not built for the platform, or its package is not installed. */
export function findBinaries(): Binaries {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  if (name === undefined) throw new Error(`there is no llama.cpp for ${platform}`);
  const binding = createRequire(import.meta.url).resolve('node-llama-cpp');
  // The packages of the platforms are dependencies of the binding, not ours.
  const entry = createRequire(binding).resolve(`@node-llama-cpp/${name}`);
  const folder = join(dirname(entry), '..', 'bins', name);
  const files = readdirSync(folder);
  const find = (library: string) => {
    const pattern = new RegExp(`^(?:lib)?${library}\\..*(?:so|dylib|dll)$`);
    const file = files.find((one) => pattern.test(one));
    if (file === undefined) throw new Error(`${library} is missing in ${folder}`);
    return join(folder, file);
  };
  return {
    folder,
    release: readRelease(folder),
    ggmlBase: find('ggml-base'),
    ggml: find('ggml'),
    llama: find('llama'),
  };
}

function readRelease(folder: string): string {
  const text = readFileSync(join(folder, '_nlcBuildMetadata.json'), 'utf8');
  // The package is locked, and its own program wrote this file.
  const { buildOptions } = JSON.parse(text) as {
    buildOptions: { llamaCpp: { release: string } };
  };
  return buildOptions.llamaCpp.release;
}
