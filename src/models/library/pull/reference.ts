import { Fault } from '../../../kit/errors.ts';
import { findInCatalogue } from '../catalogue.ts';
import { nameOfFile, parseModelName } from '../model-name.ts';
import { namesOfParts } from '../split-files.ts';

/** Where a model is to come from, as far as the name tells. */
export type Reference = {
  /** The same for all spellings that mean the same. */
  readonly key: string;
} & (
  | {
      readonly kind: 'hugging-face';
      /** `<owner>/<repository>` */
      readonly repository: string;
      readonly revision: string;
      /** A file of the repository or a quantisation such as `Q4_K_M`. */
      readonly selector: string | undefined;
      /** The name it gets; made of the repository and the file when absent. */
      readonly name: string | undefined;
      readonly licence: string | undefined;
    }
  | {
      readonly kind: 'ollama';
      /** `<namespace>/<model>` */
      readonly repository: string;
      readonly tag: string;
      readonly name: string;
    }
  | {
      readonly kind: 'address';
      /** Of all files of the model, in order. */
      readonly urls: readonly string[];
      /** Of a model in one file only. */
      readonly digest: string | undefined;
      readonly name: string;
    }
);

const textMax = 2048;
const part = '[A-Za-z0-9][\\w.-]*';
const huggingFacePattern = new RegExp(
  `^(?:https://)?(?:hf\\.co|huggingface\\.co)/(${part}/${part})(?::(${part}(?:/${part})*))?/?$`,
);
const filePattern = new RegExp(
  `^https://(?:hf\\.co|huggingface\\.co)/(${part}/${part})/(?:resolve|blob)/(${part})/([^?#]+\\.gguf)(?:\\?[^#]*)?$`,
  'i',
);
const ollamaPattern = new RegExp(`^(?:(${part})/)?(${part})(?::(${part}))?$`);

/** Reads what a caller wants to pull; Fault `invalid` says which forms there are. */
export function parseReference(text: string): Reference {
  const wanted = text.trim();
  if (wanted.length > textMax) throw notUnderstood();
  return (
    ofCatalogue(wanted) ??
    ofFile(wanted) ??
    ofHuggingFace(wanted) ??
    ofAddress(wanted) ??
    ofOllama(wanted)
  );
}

function ofCatalogue(text: string): Reference | undefined {
  const entry = findInCatalogue(text);
  if (!entry) return undefined;
  const { name, repository, file: selector, licence } = entry;
  const key = `catalogue ${name}`;
  return { kind: 'hugging-face', key, repository, revision: 'main', selector, name, licence };
}

function ofFile(text: string): Reference | undefined {
  const [, repository, revision, path] = filePattern.exec(text) ?? [];
  if (repository === undefined || revision === undefined || path === undefined) return undefined;
  const selector = decode(path);
  const key = `hf ${repository} ${revision} ${selector}`;
  return { kind: 'hugging-face', key, repository, revision, selector, ...unnamed };
}

function ofHuggingFace(text: string): Reference | undefined {
  const [, repository, selector] = huggingFacePattern.exec(text) ?? [];
  if (repository === undefined) return undefined;
  const key = `hf ${repository} main ${selector?.toLowerCase() ?? ''}`;
  return { kind: 'hugging-face', key, repository, revision: 'main', selector, ...unnamed };
}

const unnamed = { name: undefined, licence: undefined } as const;

function ofAddress(text: string): Reference | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined;
  if (!URL.canParse(text)) throw notUnderstood();
  const url = new URL(text);
  const digest = digestOf(url);
  url.hash = '';
  const urls = urlsOfParts(url);
  if (digest !== undefined && urls.length > 1) throw oneDigestForMany();
  const [first = url.href] = urls;
  const file = decode(lastOf(new URL(first))).replaceAll(/[^\w.-]+/g, '-');
  const name = nameOfFile(file);
  if (name === undefined) throw new Fault('invalid', 'the address must end in ".gguf"');
  const key = `address ${first} ${digest ?? ''}`;
  return { kind: 'address', key, urls, digest, name: parseModelName(name) };
}

/** The addresses of all files of the model that an address names one of. */
function urlsOfParts(url: URL): readonly string[] {
  return namesOfParts(lastOf(url)).map((name) => {
    const sibling = new URL(url);
    sibling.pathname = url.pathname.replace(/[^/]*$/, () => name);
    return sibling.href;
  });
}

/** A query may hold a signature that nobody else should have. */
export function withoutQuery(url: string): string {
  return url.replace(/\?.*$/, '');
}

function lastOf({ pathname }: URL): string {
  return pathname.split('/').at(-1) ?? '';
}

function oneDigestForMany(): Fault {
  return new Fault(
    'invalid',
    'a digest is that of one file, and this model is split into several',
    {
      reason: 'split_model',
      detail: { param: 'model' },
    },
  );
}

/** SHA-256 in hex; a fragment that is something else is refused, lest nothing be checked. */
function digestOf({ hash }: URL): string | undefined {
  if (hash === '') return undefined;
  const [, digest] = /^#sha256=([0-9a-f]{64})$/i.exec(hash) ?? [];
  if (digest !== undefined) return digest.toLowerCase();
  throw new Fault('invalid', 'what follows "#" must be "sha256=" and 64 hexadecimal digits', {
    detail: { param: 'model' },
  });
}

function ofOllama(text: string): Reference {
  const short = text.replace(/^(https:\/\/)?(registry\.ollama\.ai|ollama\.com)\//, '');
  const [, namespace = 'library', model, tag = 'latest'] = ollamaPattern.exec(short) ?? [];
  const isHost = /^(hf\.co|huggingface\.co)$/.test(namespace);
  if (model === undefined || isHost) throw notUnderstood();
  const name = parseModelName(
    namespace === 'library' ? `${model}:${tag}` : `${namespace}/${model}:${tag}`,
  );
  return { kind: 'ollama', key: `ollama ${name}`, repository: `${namespace}/${model}`, tag, name };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notUnderstood();
  }
}

function notUnderstood(): Fault {
  const forms = 'qwen3:0.6b, hf.co/<owner>/<repository>[:<file or quantisation>] or https://….gguf';
  return new Fault('invalid', `a model to pull is written as ${forms}`, {
    detail: { param: 'model' },
  });
}
