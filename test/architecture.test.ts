import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../src', import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => file.endsWith('.ts'));
const product = files.filter((file) => !/(\.test|\/testing|-testing)\.ts$/.test(file));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

const imports = importsOf(root, product);

/** What files below a folder import of it; their paths begin there. */
function importsOf(folder: string, sources: readonly string[]): Import[] {
  return sources
    .filter((from) => /\.tsx?$/.test(from))
    .flatMap((from) => {
      const text = readFileSync(join(folder, from), 'utf8');
      const targets = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
      return Array.from(targets, ([, target = '']) => {
        return { from, to: normalize(join(dirname(from), target)) };
      });
    });
}

const serviceNames = new Set(
  files
    .filter((file) => /^[a-z]+\/service\.ts$/.test(file) && !file.startsWith('kit/'))
    .map(areaOf),
);

/** The folder below `src` in which a file lies; `commands` and the files of `src` itself are the root. */
function areaOf(file: string): string {
  const [first = '', ...rest] = file.split('/');
  return rest.length === 0 || first === 'commands' ? 'root' : first;
}

/** Fails with the rule's reason and every place that breaks it. */
function expectNone(reason: string, breaches: readonly string[]): void {
  expect(breaches, `${reason}\n${breaches.join('\n')}`).toEqual([]);
}

const show = ({ from, to }: Import) => `  ${from} -> ${to}`;

test('there are nine services', () => {
  expect([...serviceNames].toSorted()).toEqual([
    'auth',
    'chat',
    'gateway',
    'mesh',
    'models',
    'registry',
    'studio',
    'tracer',
    'workflow',
  ]);
});

/** The library with which anything joins the mesh: as public as the contract, for agents of our own too. */
const agentLibrary = 'mesh/agent.ts';

test("a service imports its own folder, the kit and other services' contracts", () => {
  const breaches = imports.filter(({ from, to }) => {
    const [own, other] = [areaOf(from), areaOf(to)];
    if (own === 'root' || own === 'kit' || own === other || other === 'kit') return false;
    return to !== `${other}/contract.ts` && to !== agentLibrary;
  });
  expectNone(
    'Services meet only over their public interface, so that any of them can run on another machine.',
    breaches.map(show),
  );
});

test('the kit imports the kit', () => {
  const breaches = imports.filter(({ from, to }) => areaOf(from) === 'kit' && areaOf(to) !== 'kit');
  expectNone(
    'The kit is the ground of all services; it must not stand on one of them.',
    breaches.map(show),
  );
});

test('to know of a service loads nothing of what runs it', () => {
  const breaches = [...serviceNames].flatMap((name) =>
    [...loadedBy(`${name}/service.ts`)].filter((file) => isOfRunning(file, name)),
  );
  expectNone('What runs a service is loaded while the database opens, or not at all.', breaches);
});

/** All files that are loaded with one, itself included. */
function loadedBy(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  const imported = textOf(file).matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm);
  for (const [, target = ''] of imported) loadedBy(normalize(join(dirname(file), target)), loaded);
  return loaded;
}

function isOfRunning(file: string, service: string): boolean {
  const [area, ...rest] = file.split('/');
  return area === service && /^(start|parts|routes)\b/.test(rest.join('/'));
}

test('the kit names no service', () => {
  const words = new RegExp(`'(${[...serviceNames].join('|')})'`);
  const breaches = product.filter((file) => areaOf(file) === 'kit' && words.test(textOf(file)));
  expectNone('What is true of one service only belongs to that service.', breaches);
});

test('inside a service, the domain and the store import no route and no HTTP', () => {
  const isEdge = (file: string) =>
    /\/(routes|service|start)\.ts$/.test(file) || file.includes('/routes/');
  const breaches = imports.filter(({ from, to }) => {
    if (!serviceNames.has(areaOf(from)) || isEdge(from)) return false;
    return isEdge(to) && areaOf(from) === areaOf(to);
  });
  expectNone(
    'Inside a service calls go routes -> domain -> store, never back.',
    breaches.map(show),
  );
  const stores = imports.filter(
    ({ from, to }) => isStore(from) && /^kit\/(http|client|sse|sockets)/.test(to),
  );
  expectNone('A store knows SQL and nothing of HTTP.', stores.map(show));
});

function isStore(file: string): boolean {
  return /(^|\/|-)store\.ts$/.test(file);
}

test('the environment is read in kit/environment.ts alone', () => {
  const breaches = product.filter(
    (file) => file !== 'kit/environment.ts' && /process\s*\.\s*env\b|process\[/.test(textOf(file)),
  );
  expectNone(
    'A setting that is read elsewhere is in no table, has no default and is never checked.',
    breaches,
  );
});

test('SQL stands in stores and migrations alone', () => {
  const sql =
    /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|(?<![.\w])sql`|['"`]\s*(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+table)\b/i;
  const breaches = product.filter((file) => {
    if (isStore(file) || file.startsWith('kit/database/')) return false;
    return sql.test(textOf(file));
  });
  expectNone(
    'All SQL of a service stands in one place, where both databases are tested.',
    breaches,
  );
});

test('a store touches its own schema only', () => {
  const breaches = product.filter(isStore).flatMap((file) => {
    const others = [...serviceNames].filter((name) => name !== areaOf(file));
    const foreign = new RegExp(`\\b(from|join|into|update|table)\\s+(${others.join('|')})\\.`, 'i');
    const kysely = new RegExp(`kysely<[^(]*\\('(${others.join('|')})'\\)`);
    const text = textOf(file);
    return foreign.test(text) || kysely.test(text) ? [file] : [];
  });
  expectNone('A table has one owner; others ask it over its interface.', breaches);
});

test('nothing is exported by default and no file only passes exports on', () => {
  const defaults = product.filter((file) => /^export default\b/m.test(textOf(file)));
  expectNone('A name that the importer may choose cannot be searched for.', defaults);
  const barrels = product.filter(
    (file) => /(^|\/)index\.ts$/.test(file) || /^export \* from/m.test(textOf(file)),
  );
  expectNone('A barrel hides where things are and makes cycles.', barrels);
});

test('imports name files, in TypeScript, by relative paths', () => {
  const breaches = imports.filter(({ to }) => !to.endsWith('.ts'));
  expectNone('Node.js runs these files as they are; it guesses no extension.', breaches.map(show));
});

const pages = fileURLToPath(new URL('../console', import.meta.url));

test('the pages of the console import their own files, and of the program types of contracts', () => {
  const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const breaches = sources.flatMap((file) => {
    const text = readFileSync(join(pages, file), 'utf8');
    return [...text.matchAll(/(import|export)( type)?[^;]*?from '(\.\.[^']+)'/g)]
      .filter(([, , isType, target = '']) => {
        const path = normalize(join(dirname(file), target));
        if (!path.startsWith(`..${sep}`)) return false;
        return !isType || !/^\.\.[\\/]src[\\/]\w+[\\/]contract\.ts$/.test(path);
      })
      .map(([, , , target]) => `  console/${file} -> ${target}`);
  });
  expectNone('What runs in a browser holds nothing that runs in a service.', breaches);
});

test('no file leads back to itself, not even by types', () => {
  const ofProgram = circular(product, imports);
  const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' });
  const ofConsole = circular(sources, importsOf(pages, sources));
  expectNone('What two files share stands below both.', [...ofProgram, ...ofConsole]);
});

/** The files that are left when those are taken away, again and again, that import none of the rest. */
function circular(all: readonly string[], among: readonly Import[]): ReadonlySet<string> {
  const left = new Set(all);
  const isGround = (file: string) => !among.some(({ from, to }) => from === file && left.has(to));
  while (true) {
    const ground = [...left].filter(isGround);
    if (ground.length === 0) return left;
    for (const file of ground) left.delete(file);
  }
}
